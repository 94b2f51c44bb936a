// Compares lists that vary in length, those within a radius and those without the rows of excluded groups, with the
// CPU, bit for bit: every filter on a GPU, every measure that it bounds, radii that are distances of rows, lists that
// are as long as their places or longer, tables in parts. Skipped where there is no GPU; varied_lists_fake_test.cpp
// tests the host's half without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "environment.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

struct Filter {
  const char* name;    // of the test
  const char* method;  // begins with it
  const char* scan;    // STOPE_SCAN
  const char* visit;   // STOPE_VISIT
  std::int64_t device_rows = 0;
};

constexpr Filter kProducts = {"products", "filter, products", "", ""};
constexpr Filter kInParts = {"products_in_parts", "filter, products, in parts", "", "", 700};
constexpr Filter kFloats = {"differences", "filter, differences", "differences", ""};
constexpr Filter kBytes = {"bytes", "filter, byte differences", "bytes", ""};
constexpr Filter kBoxes = {"boxes", "filter, boxes", "", "queries"};

struct Case {
  Filter filter;
  const char* metric;
  int n_numeric, n_nominal;
  double missing;
};

constexpr Case kCases[] = {
    {kProducts, "euclidean", 17, 0, 0.0},
    {kProducts, "sqeuclidean", 5, 0, 0.0},
    {kProducts, "mixed-euclidean", 9, 4, 0.1},
    {kProducts, "heom", 9, 4, 0.1},
    {kProducts, "cosine", 17, 0, 0.0},
    {kProducts, "cosine-similarity", 17, 0, 0.0},
    {kInParts, "euclidean", 17, 0, 0.0},
    {kInParts, "cosine", 17, 0, 0.0},
    {kFloats, "euclidean", 9, 0, 0.1},
    {kFloats, "manhattan", 9, 0, 0.0},
    {kFloats, "chebyshev", 9, 0, 0.1},
    {kFloats, "canberra", 9, 0, 0.0},
    {kFloats, "braycurtis", 9, 0, 0.1},
    {kFloats, "nan-euclidean", 9, 0, 0.1},
    {kFloats, "gower", 5, 3, 0.1},
    {kFloats, "cosine", 9, 0, 0.0},
    {kBytes, "manhattan", 31, 0, 0.1},
    {kBytes, "gower", 9, 4, 0.1},
    {kBytes, "hamming", 0, 9, 0.1},
    {kBoxes, "euclidean", 3, 0, 0.0},
    {kBoxes, "sqeuclidean", 3, 0, 0.1},
    {kBoxes, "manhattan", 2, 0, 0.0},
    {kBoxes, "gower", 2, 1, 0.1},
    {kBoxes, "cosine", 3, 0, 0.0},
    {kBoxes, "haversine", 2, 0, 0.0},
};

class VariedListsCuda : public NeedsGpuAs<testing::TestWithParam<Case>> {
 protected:
  ~VariedListsCuda() override { leave(); }
  static void leave() { unset_all({"STOPE_BACKEND", "STOPE_SCAN", "STOPE_VISIT", "STOPE_DEVICE_ROWS"}); }
  static void force(const Filter& filter) {
    setenv("STOPE_BACKEND", "cuda", 1);
    setenv("STOPE_SCAN", filter.scan, 1);
    setenv("STOPE_VISIT", filter.visit, 1);
    set_size("STOPE_DEVICE_ROWS", filter.device_rows);
  }
  static Table table(Random& random, std::int64_t n, TableShape::Values values) {
    const Case& wanted = GetParam();
    return oracle::random_table(random, {.n_rows = n,
                                         .n_numeric = wanted.n_numeric,
                                         .n_nominal = wanted.n_nominal,
                                         .missing = wanted.missing,
                                         .values = values});
  }
  static KnnOptions options() {
    KnnOptions options;
    options.metric.name = GetParam().metric;
    return options;
  }
  // The GPU's lists within a radius must be the CPU's. Returns the GPU's report.
  static SearchReport compare(const KnnIndex& index, const Table& query, double radius, const SearchOptions& search) {
    leave();
    const Neighbors theirs = index.radius_neighbors(query, radius, search, {.device = "cpu"});
    force(GetParam().filter);
    SearchReport report;
    const Neighbors ours = index.radius_neighbors(query, radius, search, {}, &report);
    leave();
    expect_same(ours, theirs);
    EXPECT_EQ(report.backend, "cuda");
    return report;
  }
  // A distance of which about one row in `share` is as near or nearer to the query.
  static double radius_of(const KnnIndex& index, const Table& query, std::int64_t n_neighbors) {
    const Neighbors near = index.kneighbors(query, {.n_neighbors = n_neighbors}, {.device = "cpu"});
    return near.distances[near.distances.size() / 2 / static_cast<std::size_t>(n_neighbors) *
                              static_cast<std::size_t>(n_neighbors) +
                          static_cast<std::size_t>(n_neighbors) - 1];
  }
};

TEST_P(VariedListsCuda, WithinARadiusAreThoseOfTheProcessor) {
  Random random(11);
  constexpr std::int64_t kRows[] = {33, 129, 700, 1500, 5000}, kNear[] = {1, 5, 30, 120};
  int by_filter = 0, searches = 0;
  for (const std::int64_t n : kRows) {
    for (const auto values : {TableShape::Values::open_unit, TableShape::Values::few}) {
      if (GetParam().filter.device_rows >= n) continue;
      const bool sphere = std::string(GetParam().metric) == "haversine";
      if (sphere && values == TableShape::Values::few) continue;
      const Table train = table(random, n, values), query = table(random, 257, values);
      const KnnIndex index = KnnIndex::fit(train, options());
      for (const std::int64_t near : kNear) {
        if (near >= n) continue;
        const double radius = radius_of(index, query, near);  // the distance of a row, which must be within it
        if (std::isnan(radius)) continue;
        SCOPED_TRACE(std::to_string(n) + " rows, radius " + std::to_string(radius));
        const SearchReport report = compare(index, query, radius, {});
        by_filter += report.method == GetParam().filter.method ? 1 : 0;
        ++searches;
        ASSERT_FALSE(HasFatalFailure());
      }
      compare(index, query, 0.0, {});
      compare(index, query, -0.5, {});
      const double radius = radius_of(index, query, 3);
      if (!std::isnan(radius)) compare(index, train, radius, {.exclude_self = true});
      if (GetParam().n_nominal > 0) compare(index, query, radius, {.exclude_group = train.columns.back().name});
      ASSERT_FALSE(HasFailure());
    }
  }
  if (by_filter == 0 && GetParam().filter.method == std::string(kBytes.method) &&
      device_info().gpus.front().arch == "sm_75") {
    return;  // Turing has no matrix instructions for bytes: the reference answered
  }
  EXPECT_GT(by_filter, searches / 3);
}

// Copies of a row around 128, 512 and 1,024 places: a list that fills them all may be longer. The second search begins
// with the places that the first one needed. A few queries are left to the reference, which reads the rows that the
// filter holds; many get more places.
TEST_P(VariedListsCuda, AsLongAsTheirPlacesOrLonger) {
  Random random(12);
  const auto values = TableShape::Values::open_unit;
  for (const std::int64_t copies : {127, 128, 129, 400, 511, 512, 700, 1023, 1024, 1500}) {
    SCOPED_TRACE(copies);
    const Table others = table(random, 2000, values);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < copies; ++i) rows.push_back(i % 2);  // two different rows
    for (std::int64_t i = 0; i < 2000; ++i) rows.insert(rows.begin() + (i * 37) % std::ssize(rows), i);
    const Table train = others.take(rows);
    const KnnIndex index = KnnIndex::fit(train, options());
    compare(index, others.take({0, 1, 2, 3, 500}), 0.0, {});
    std::vector<std::int64_t> many;
    for (std::int64_t i = 0; i < 600; ++i) many.push_back(i % 3);
    compare(index, others.take(many), 0.0, {});
    set_size("STOPE_TILE_QUERIES", 250);
    compare(index, others.take(many), 0.0, {});
    compare(index, train, 0.0, {.exclude_self = true});
    SearchOptions groups{.exclude_self = true};
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < train.n_rows; ++i) numbers.push_back(static_cast<double>(i % 5));
    groups.exclude_train = groups.exclude_query = make_numeric("", numbers);
    compare(index, train, 0.0, groups);
    compare(index, others.take({0, 1, 2, 3, 500}), 0.0, {});
    set_size("STOPE_TILE_QUERIES", 0);
    ASSERT_FALSE(HasFailure());
  }
}

// The numbers of groups are their bits: negative ones exclude as others do.
TEST_P(VariedListsCuda, WithoutExcludedGroupsAreThoseOfTheProcessor) {
  Random random(13);
  for (const std::int64_t n_groups : {3, 40, 700}) {
    for (const std::int64_t k : {1, 10, 60}) {
      SCOPED_TRACE(std::to_string(n_groups) + " groups, k " + std::to_string(k));
      const Table train = table(random, 1400, TableShape::Values::open_unit);
      const Table query = table(random, 130, TableShape::Values::open_unit);
      const auto groups = [&](std::int64_t rows) {
        std::vector<double> numbers;
        for (std::int64_t i = 0; i < rows; ++i) {
          numbers.push_back(2.0 - static_cast<double>(random.below(static_cast<std::uint64_t>(n_groups))));
          if (random.below(11) == 0) numbers.back() = std::nan("");
        }
        return make_numeric("", numbers);
      };
      SearchOptions search{.n_neighbors = k, .exclude_train = groups(1400), .exclude_query = groups(130)};
      const KnnIndex index = KnnIndex::fit(train, options());
      const Neighbors theirs = index.kneighbors(query, search, {.device = "cpu"});
      force(GetParam().filter);
      const Neighbors ours = index.kneighbors(query, search, {});
      search.exclude_self = true;
      search.exclude_query = search.exclude_train;
      const Neighbors alone = index.kneighbors(train, search, {});
      leave();
      ASSERT_NO_FATAL_FAILURE(expect_same(ours, theirs));
      ASSERT_NO_FATAL_FAILURE(expect_same(alone, index.kneighbors(train, search, {.device = "cpu"})));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, VariedListsCuda, testing::ValuesIn(kCases), [](const auto& of) {
  std::string name = std::string(of.param.filter.name) + "_" + of.param.metric;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace stope
