// The tensor filter against the processor, bit for bit, at sizes that straddle its tiles, blocks and image widths, and
// on tables that aim at its bounds. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class FilterCuda : public testing::Test {
 protected:
  void SetUp() override {
    for (const BackendInfo& backend : device_info().backends) {
      if (backend.name == "cuda" && !backend.available) GTEST_SKIP() << "no CUDA: " << backend.reason;
    }
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
  }
  ~FilterCuda() override { unsetenv("STOPE_BACKEND"); }
};

// 8, or fewer under a sanitizer.
int rounds() {
  const char* text = std::getenv("STOPE_ROUNDS");
  return text == nullptr ? 8 : std::atoi(text);
}

using Values = std::vector<std::vector<double>>;  // column by column

Table table_of(const Values& columns) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(columns.front().size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    table.columns.push_back(make_numeric("x" + std::to_string(c), columns[c]));
  }
  return table;
}

template <class Value>
Values fill(std::int64_t n_rows, std::int64_t n_columns, const Value& value) {
  Values columns(static_cast<std::size_t>(n_columns), std::vector<double>(static_cast<std::size_t>(n_rows)));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t r = 0; r < columns[c].size(); ++r) columns[c][r] = value(r, c);
  }
  return columns;
}

// The answer on the GPU is the processor's; returns what the GPU did.
SearchReport expect_the_processors_answer(const Table& train, const Table& query, std::int64_t k,
                                          const KnnOptions& options = {}, bool exclude_self = false) {
  const KnnIndex index = KnnIndex::fit(train, options);
  Neighbors ours;
  const SearchReport report =
      index.kneighbors(query, {.n_neighbors = k, .exclude_self = exclude_self}, {}, [&](const Neighbors& block) {
        EXPECT_EQ(block.first_query, ours.n_queries());
        for (std::int64_t i = 0; i < block.n_queries(); ++i) {
          ours.offsets.push_back(ours.offsets.back() + k);
        }
        ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
        ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
      });
  unsetenv("STOPE_BACKEND");
  const Neighbors theirs = index.kneighbors(query, {.n_neighbors = k, .exclude_self = exclude_self}, {.device = "cpu"});
  setenv("STOPE_BACKEND", "cuda", 1);
  EXPECT_EQ(ours.indices.size(), theirs.indices.size());
  for (std::size_t i = 0; i < std::min(ours.indices.size(), theirs.indices.size()); ++i) {
    const bool same = ours.indices[i] == theirs.indices[i] && std::bit_cast<std::uint64_t>(ours.distances[i]) ==
                                                                  std::bit_cast<std::uint64_t>(theirs.distances[i]);
    if (same) continue;
    const auto at = static_cast<std::int64_t>(i);
    ADD_FAILURE() << "query " << at / k << ", neighbour " << at % k << ": row " << ours.indices[i] << " at "
                  << ours.distances[i] << ", should be row " << theirs.indices[i] << " at " << theirs.distances[i]
                  << "; " << report.listed << " listed, " << report.evaluated << " evaluated, " << report.uncertified
                  << " uncertified";
    break;
  }
  return report;
}

TEST_F(FilterCuda, SizesThatStraddleTiles) {
  Random random(1);
  const std::vector<std::int64_t> rows = {1, 2, 31, 127, 128, 129, 1000, 4097, 40000};
  const std::vector<std::int64_t> queries = {1, 2, 64, 255, 256, 257, 600};
  const std::vector<std::int64_t> columns = {1, 2, 7, 31, 63, 64, 65, 100, 127, 128};
  const std::vector<std::int64_t> neighbors = {1, 2, 10, 24, 25, 60, 128};
  for (int round = 0; round < 15 * rounds(); ++round) {
    const std::int64_t n = rows[random.below(rows.size())], m = queries[random.below(queries.size())];
    const std::int64_t d = columns[random.below(columns.size())];
    const std::int64_t k = std::min(n, neighbors[random.below(neighbors.size())]);
    SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m) + " x " + std::to_string(d) + ", k " +
                 std::to_string(k));
    const auto value = [&](std::size_t, std::size_t) { return random.uniform(); };
    const SearchReport report =
        expect_the_processors_answer(table_of(fill(n, d, value)), table_of(fill(m, d, value)), k);
    EXPECT_EQ(report.method, "filter, products");
    if (n >= 4097 && d >= 7) {  // of few columns, thousands of rows have the same image
      EXPECT_LT(report.uncertified, m / 4 + 2);
    }
    if (HasFailure()) return;
  }
}

TEST_F(FilterCuda, TablesThatAimAtTheBound) {
  Random random(2);
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform(); };
  const auto few = [](const Table& table) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < 200; ++i) rows.push_back(i * 37 % table.n_rows);
    return table.take(rows);
  };
  const std::int64_t n = 9000, d = 20;
  const std::vector<std::pair<const char*, Values>> tables = {
      {"offset", fill(n, d, [&](std::size_t, std::size_t) { return 1e6 + random.uniform(); })},
      {"one huge column",
       fill(n, d, [&](std::size_t, std::size_t c) { return (c == 3 ? 1e9 : 1.0) * random.uniform(); })},
      {"sorted by class",
       fill(n, d, [&](std::size_t r, std::size_t) { return static_cast<double>(r / 1000) + random.uniform(); })},
      {"sorted downwards",
       fill(n, d, [&](std::size_t r, std::size_t) { return -static_cast<double>(r) + random.uniform(); })},
      {"outliers",
       fill(n, d, [&](std::size_t r, std::size_t) { return (r % 3001 == 5 ? 1e7 : 1.0) * random.uniform(); })},
      {"beyond halves",
       fill(n, d, [&](std::size_t r, std::size_t) { return (r % 4001 == 5 ? 1e300 : 1.0) * random.uniform(); })},
      {"infinities",
       fill(n, d, [&](std::size_t r, std::size_t) { return r % 4001 == 5 ? HUGE_VAL : random.uniform(); })},
      {"heavy tails",
       fill(n, d, [&](std::size_t, std::size_t) { return std::tan((random.uniform() - 0.5) * 3.14159); })},
      {"near ties", fill(n, d,
                         [&](std::size_t, std::size_t) {
                           return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.5) + random.below(3));
                         })},
      {"nearer than halves",
       fill(n, d, [&](std::size_t r, std::size_t) { return (r % 2 == 0 ? 1.0 : -1.0) + 1e-5 * random.uniform(); })},
      {"whole numbers", fill(n, d, [&](std::size_t, std::size_t) { return static_cast<double>(random.below(3)); })},
      {"bytes", fill(n, d, [&](std::size_t, std::size_t) { return static_cast<double>(random.below(256)); })},
      {"subnormal", fill(n, d, [&](std::size_t, std::size_t) { return 1e-310 * random.uniform(); })},
      {"tiny", fill(n, d, [&](std::size_t, std::size_t) { return 1e-150 * random.uniform(); })},
      {"large", fill(n, d, [&](std::size_t, std::size_t) { return 1e150 * random.uniform(); })},
      {"constant", fill(n, d, [&](std::size_t, std::size_t) { return 3.0; })},
      {"equal rows", fill(n, d, [&](std::size_t r, std::size_t c) { return static_cast<double>(r % 5 + c); })},
      {"uniform", fill(n, d, uniform)},
  };
  for (const auto& [name, values] : tables) {
    const Table train = table_of(values);
    for (const std::int64_t k : {1, 10, 100}) {
      for (const char* metric : {"euclidean", "sqeuclidean", "mixed-euclidean"}) {
        SCOPED_TRACE(std::string(name) + ", " + metric + ", k " + std::to_string(k));
        KnnOptions options;
        options.metric.name = metric;
        const SearchReport report = expect_the_processors_answer(train, few(train), k, options);
        // No image bounds what is below the range of the scales.
        EXPECT_EQ(report.method, std::string(name) == "subnormal" ? "reference" : "filter, products");
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(FilterCuda, LeaveOneOutWeightsAndRepeats) {
  Random random(3);
  const Table train = table_of(fill(5000, 33, [&](std::size_t, std::size_t) { return random.uniform(); }));
  KnnOptions options;
  for (int c = 0; c < 33; ++c) options.feature_weights.push_back(c % 4 == 0 ? 0.0 : 0.25 * (1 + c % 5));
  expect_the_processors_answer(train, train, 7, options, true);
  const KnnIndex index = KnnIndex::fit(train);
  const Neighbors first = index.kneighbors(train, {.n_neighbors = 20});
  for (int repeat = 0; repeat < 20 * rounds() / 8; ++repeat) {
    const Neighbors again = index.kneighbors(train, {.n_neighbors = 20});
    ASSERT_EQ(again.indices, first.indices);
    ASSERT_EQ(again.distances, first.distances);
  }
}

TEST_F(FilterCuda, UsualTablesNeedNoReference) {
  Random random(4);
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform(); };
  const SearchReport report =
      expect_the_processors_answer(table_of(fill(100000, 50, uniform)), table_of(fill(1000, 50, uniform)), 10);
  EXPECT_EQ(report.uncertified, 0);
  EXPECT_LT(report.evaluated, 1000 * 200);
}

}  // namespace
}  // namespace stope
