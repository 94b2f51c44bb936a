// A few queries in a large table: tiles of one query, blocks in the order of their boxes, as many threads as the work
// is worth. Nothing of it changes an answer.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "effort.hpp"
#include "environment.hpp"
#include "knn/filter/filter_cases.hpp"
#include "oracle/random_table.hpp"

namespace stope {
namespace {

using oracle::TableShape;

TEST(FewQueries, GetTheReferencesAnswer) {
  Random random(11);
  std::int64_t number = 0;
  for (const TableShape::Values values :
       {TableShape::Values::uniform, TableShape::Values::few, TableShape::Values::wild}) {
    for (const double missing : {0.0, 0.2}) {
      const TableShape shape{.n_rows = 5000, .n_numeric = 19, .n_nominal = 3, .missing = missing, .values = values};
      const Table train = oracle::random_table(random, shape);
      for (const std::int64_t n : {1, 2, 9, 70}) {
        TableShape few = shape;
        few.n_rows = n;
        const Table query = oracle::random_table(random, few);
        SCOPED_TRACE(std::to_string(n) + " queries, " + std::to_string(missing) + " missing");
        for (const char* metric : {"mixed-euclidean", "gower", "chebyshev"}) {
          if (values == TableShape::Values::wild && std::string(metric) == "gower") continue;
          if (!chosen(number++)) continue;
          if (std::string(metric) == "chebyshev") {
            TableShape numeric = shape;
            numeric.n_nominal = 0;
            const Table rows = oracle::random_table(random, numeric);
            numeric.n_rows = n;
            expect_the_references_answer(rows, oracle::random_table(random, numeric), metric, 7);
          } else {
            expect_the_references_answer(train, query, metric, 7);
          }
        }
      }
    }
  }
}

// A table of many blocks is cut into segments, which tell each other how near the neighbours are so far.
TEST(FewQueries, SegmentsOfATableGiveTheReferencesAnswer) {
  Random random(13);
  std::int64_t number = 0;
  for (const TableShape::Values values : {TableShape::Values::uniform, TableShape::Values::few}) {
    TableShape shape{.n_rows = 66'000, .n_numeric = 12, .n_nominal = 0, .values = values};
    Case c;
    c.train = oracle::random_table(random, shape);
    shape.n_rows = 70;
    c.query = oracle::random_table(random, shape);
    c.search.n_neighbors = 9;
    const KnnIndex index = KnnIndex::fit(c.train, c.knn);
    Neighbors expected;
    {
      const Forced forced("reference", "", "", 128, 0);
      expected = answer(c, index, {});
    }
    for (const BackendInfo& backend : device_info().backends) {
      if (!backend.available || backend.name == "cuda" || backend.name == "reference") continue;
      for (const char* scan : {"differences", "products", "nibbles", "bytes"}) {
        for (const std::int64_t tile : {1, 7, 1000}) {
          if (!chosen(number++)) continue;
          const Forced forced(backend.name, "table", scan, tile, 0);
          RunOptions run;
          run.threads = 4;
          SCOPED_TRACE(backend.name + ", " + scan + ", " + std::to_string(tile));
          expect_same(answer(c, index, run), expected);
        }
      }
    }
  }
}

// 40 groups of rows, far from each other.
Table groups(std::int64_t n_rows, std::uint64_t seed) {
  Random random(seed);
  Table table;
  table.n_rows = n_rows;
  std::vector<std::int64_t> group(static_cast<std::size_t>(n_rows));
  for (std::int64_t& g : group) g = static_cast<std::int64_t>(random.below(40));
  for (std::int64_t c = 0; c < 24; ++c) {
    std::vector<double> values;
    for (const std::int64_t g : group) {
      values.push_back(static_cast<double>((g * (c + 3) * 7919) % 101) + 0.1 * random.uniform());
    }
    table.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  return table;
}

TEST(FewQueries, StartOnlyTheThreadsThatTheirWorkIsWorth) {
  const Table train = groups(50'000, 1), one = groups(1, 2);
  RunOptions run;
  run.device = "cpu";
  run.threads = 64;
  const KnnIndex index = KnnIndex::fit(train, {}, run);
  const SearchOptions search{.n_neighbors = 5};
  const auto ignore = [](const Neighbors&) {};
  index.kneighbors(groups(300, 3), search, run, ignore);  // looks at a sample and makes the images
  index.kneighbors(one, search, run, ignore);
  const SearchReport small = index.kneighbors(one, search, run, ignore);
  EXPECT_EQ(small.threads, 1);
  EXPECT_EQ(small.method.substr(0, 14), "filter, blocks");
  EXPECT_LT(small.scanned + small.evaluated, 5'000) << "the nearest boxes come first";
  const SearchReport large = index.kneighbors(groups(20'000, 4), search, run, ignore);
  EXPECT_EQ(large.threads, 64) << "what was asked for";
}

TEST(FewQueries, InASmallTableAreNotWorthALookAtASample) {
  const ForcedBackend forced("scalar");
  const KnnIndex index = KnnIndex::fit(groups(1000, 1));
  const SearchReport report = index.kneighbors(groups(20, 2), {.n_neighbors = 5}, {}, [](const Neighbors&) {});
  EXPECT_EQ(report.method, "filter");
  EXPECT_EQ(report.method_reason, "too few queries for a look at a sample");
}

// No box rules out a block of uniform rows, so that one query reads all images: the smallest ones.
TEST(FewQueries, OneAmongUniformRowsReadsNibbles) {
  Random random(12);
  TableShape shape{.n_rows = 20'000, .n_numeric = 50, .n_nominal = 0, .values = TableShape::Values::uniform};
  const Table train = oracle::random_table(random, shape);
  shape.n_rows = 300;
  const Table many = oracle::random_table(random, shape);
  const SearchOptions search{.n_neighbors = 5};
  RunOptions run;
  run.threads = 64;
  const auto ignore = [](const Neighbors&) {};
  for (const BackendInfo& backend : device_info().backends) {
    if (!backend.available || backend.name == "cuda" || backend.name == "reference" || backend.name == "scalar")
      continue;
    SCOPED_TRACE(backend.name);
    const KnnIndex index = KnnIndex::fit(train, {}, run);
    const ForcedBackend forced(backend.name);
    index.kneighbors(many, search, run, ignore);  // looks at a sample
    index.kneighbors(many.take({0}), search, run, ignore);
    const SearchReport one = index.kneighbors(many.take({1}), search, run, ignore);
    EXPECT_EQ(one.method, "filter, nibbles");
    EXPECT_EQ(one.threads, 1);
    EXPECT_LT(one.evaluated, 1000);
  }
}

}  // namespace
}  // namespace stope
