// Compares the tensor filter with the CPU, bit for bit, at sizes that straddle its tiles, blocks and image widths, and
// on tables that aim at its bounds. It runs with the scan that the GPU gets and with those that it would not get.
// Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "expect_error.hpp"
#include "knn/gpu/tensor/tensor_filter_cases.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

/// The parameter: a scan (src/knn/cuda/tensor/scan/kernels.hpp), or "usual".
class FilterCuda : public NeedsGpuAs<testing::TestWithParam<std::string>> {
 protected:
  void SetUp() override {
    const DeviceInfo device = device_info();
    NeedsGpuAs::SetUp();
    if (IsSkipped()) return;
    if (GetParam() == "sm80" && device.gpus.front().arch == "sm_75") GTEST_SKIP() << "no such instructions";
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
    setenv("STOPE_CUDA_SCAN", GetParam() == "usual" ? "" : GetParam().c_str(), 1);
  }
  ~FilterCuda() override {
    unsetenv("STOPE_BACKEND");
    unsetenv("STOPE_CUDA_SCAN");
  }
};

INSTANTIATE_TEST_SUITE_P(, FilterCuda, testing::Values("usual", "sm80", "sm75", "few"),
                         [](const auto& scan) { return scan.param; });

TEST_P(FilterCuda, SizesThatStraddleTiles) {
  Random random(1);
  const std::vector<std::int64_t> rows = {1, 2, 31, 127, 128, 129, 1000, 4097, 40000};
  const std::vector<std::int64_t> queries = {1, 2, 8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 600};
  // Around images of 32, 64, 96 and 128 columns, with and without room for the scores' start, and panels of 64 beyond.
  const std::vector<std::int64_t> columns = {1,  2,  7,  29,  30,  32,  61,  62,  64,  65, 93,
                                             94, 96, 97, 100, 125, 126, 128, 129, 192, 300};
  const std::vector<std::int64_t> neighbors = {1, 2, 10, 24, 25, 60, 128, 129, 400, 1024};
  for (int round = 0; round < 15 * rounds(); ++round) {
    const std::int64_t n = rows[random.below(rows.size())], m = queries[random.below(queries.size())];
    const std::int64_t d = columns[random.below(columns.size())];
    const std::int64_t k = std::min(n, neighbors[random.below(neighbors.size())]);
    SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(m) + " x " + std::to_string(d) + ", k " +
                 std::to_string(k));
    const auto value = [&](std::size_t, std::size_t) { return random.uniform(); };
    if (n * d > 4000000) continue;
    const SearchReport report =
        expect_the_processors_answer(table_of(fill(n, d, value)), table_of(fill(m, d, value)), k);
    if (n > 1) {  // a single row is a whole number of steps from itself
      EXPECT_EQ(report.method, "filter, products");
    }
    if (n >= 4097 && d >= 7) {  // with few columns, thousands of rows have one image
      EXPECT_LT(report.uncertified, m / 4 + 2);
    }
    if (HasFailure()) return;
  }
}

TEST_P(FilterCuda, TablesThatAimAtTheBound) {
  Random random(2);
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform(); };
  const auto few = [](const Table& table) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < 200; ++i) rows.push_back(i * 37 % table.n_rows);
    return table.take(rows);
  };
  const std::int64_t n = 9000, d = 20;
  const std::vector<std::pair<const char*, Columns>> tables = {
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
  // The measures differ in what they make of scores; all scans compute the same scores.
  std::vector<const char*> metrics = {"euclidean", "heom"};
  if (GetParam() == "usual") {
    metrics = {"euclidean", "sqeuclidean", "mixed-euclidean", "heom", "cosine", "cosine-similarity"};
  }
  for (const auto& [name, values] : tables) {
    const Table train = table_of(values);
    for (const std::int64_t k : {1, 10, 100}) {
      for (const char* metric : metrics) {
        SCOPED_TRACE(std::string(name) + ", " + metric + ", k " + std::to_string(k));
        KnnOptions options;
        options.metric.name = metric;
        const SearchReport report = expect_the_processors_answer(train, few(train), k, options);
        // No image bounds values below the range of the scales.
        if (std::string(metric) == "heom") continue;  // its ranges may leave that range
        const bool scaled = std::string(metric).find("euclidean") != std::string::npos;
        EXPECT_EQ(report.method, scaled && std::string(name) == "subnormal" ? "reference" : "filter, products");
        if (HasFailure()) return;
      }
    }
  }
}

// Squares of differences overflow, so that distances are infinite, and equal. To an image these rows are as far apart
// as any others.
TEST_P(FilterCuda, DistancesThatOverflow) {
  Random random(31);
  const auto steps = [&](double from, std::uint64_t most) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(from) + random.below(most));
  };
  for (const std::int64_t n : {2, 33, 1000, 5000}) {
    const Table train = table_of(fill(n, 3, [&](std::size_t, std::size_t c) {
      return c == 1 ? steps(-1e300, 5) : 0.25 + 1e-9 * static_cast<double>(random.below(3));
    }));
    const Table query = table_of(fill(300, 3, [&](std::size_t r, std::size_t c) {
      return c == 1 ? steps(-1e300, r % 3 == 0 ? 20 : 5) : 0.25 + 1e-9 * static_cast<double>(random.below(3));
    }));
    for (const std::int64_t k : {1, 2, 10, 24, 100, 1000}) {
      if (k > n) continue;
      for (const char* metric : {"euclidean", "sqeuclidean", "mixed-euclidean", "cosine"}) {
        for (const Compat compat : {Compat::none, Compat::rapidminer}) {
          SCOPED_TRACE(std::string(metric) + ", n " + std::to_string(n) + ", k " + std::to_string(k) +
                       (compat == Compat::rapidminer ? ", RapidMiner's" : ""));
          KnnOptions options;
          options.metric.name = metric;
          options.compat = compat;
          expect_the_processors_answer(train, query, k, options);
          setenv("STOPE_DEVICE_ROWS", std::to_string(n / 2 + 1).c_str(), 1);  // in parts
          expect_the_processors_answer(train, query, k, options);
          unsetenv("STOPE_DEVICE_ROWS");
          if (HasFailure()) return;
        }
      }
    }
  }
}

// Makes numbers, and nominal attributes of up to a given number of values; a share of both is missing.
Table mixed_table(Random& random, std::int64_t n, std::int64_t n_numeric,
                  const std::vector<std::int32_t>& cardinalities, double missing, bool missing_everywhere) {
  Table table;
  table.n_rows = n;
  for (std::int64_t c = 0; c < n_numeric; ++c) {
    const double share = missing_everywhere || c % 2 == 0 ? missing : 0.0;
    std::vector<double> values(static_cast<std::size_t>(n));
    for (double& value : values) value = random.uniform() < share ? std::nan("") : 10.0 * random.uniform();
    table.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  for (std::size_t c = 0; c < cardinalities.size(); ++c) {
    const double share = missing_everywhere || c % 2 == 0 ? missing : 0.0;
    std::vector<std::string> names;
    for (std::int32_t v = 0; v < cardinalities[c]; ++v) names.push_back("v" + std::to_string(v));
    std::vector<std::int32_t> codes(static_cast<std::size_t>(n));
    for (std::int32_t& code : codes) {
      code = random.uniform() < share
                 ? kMissingCode
                 : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(cardinalities[c])));
    }
    table.columns.push_back(make_nominal("n" + std::to_string(c), codes, names));
  }
  return table;
}

TEST_P(FilterCuda, MixedAndMissing) {
  Random random(5);
  const std::vector<std::vector<std::int32_t>> cardinalities = {
      {}, {2}, {8, 8, 8}, {1, 3, 70, 500}, std::vector<std::int32_t>(25, 8), std::vector<std::int32_t>(40, 40)};
  for (int round = 0; round < 6 * rounds(); ++round) {
    const std::vector<std::int32_t>& nominal = cardinalities[random.below(cardinalities.size())];
    const std::int64_t n_numeric = nominal.empty() ? 25 : static_cast<std::int64_t>(random.below(26)) + 1;
    const double missing = std::vector<double>{0.0, 0.01, 0.05, 0.3, 0.8}[random.below(5)];
    const std::int64_t n = std::vector<std::int64_t>{100, 257, 3000}[random.below(3)];
    const bool everywhere = random.below(2) == 0;
    const Table train = mixed_table(random, n, n_numeric, nominal, missing, everywhere);
    const Table query = mixed_table(random, 150, n_numeric, nominal, missing, everywhere);
    for (const char* metric : {"mixed-euclidean", "heom"}) {
      KnnOptions options;
      options.metric.name = metric;
      const bool weighted = random.below(3) == 0;
      for (std::size_t c = 0; weighted && c < train.columns.size(); ++c) {
        options.feature_weights.push_back(c % 5 == 4 ? 0.0 : 0.1 + 3.0 * random.uniform());
      }
      const std::int64_t k = std::vector<std::int64_t>{1, 5, 40}[random.below(3)];
      SCOPED_TRACE(std::string(metric) + ", " + std::to_string(n) + " rows, " + std::to_string(n_numeric) +
                   " numbers, " + std::to_string(nominal.size()) + " nominal, missing " + std::to_string(missing) +
                   (everywhere ? " everywhere" : "") + (weighted ? ", weighted" : "") + ", k " + std::to_string(k));
      const SearchReport report = expect_the_processors_answer(train, query, k, options);
      EXPECT_EQ(report.method, "filter, products");
      expect_the_processors_answer(train, train, k, options, true);
      if (HasFailure()) return;
    }
  }
}

TEST_P(FilterCuda, UsualMixedTablesNeedNoReference) {
  Random random(6);
  const std::vector<std::int32_t> nominal(25, 8);
  const Table train = mixed_table(random, 50000, 25, nominal, 0.05, true);
  KnnOptions options;
  options.metric.name = "mixed-euclidean";
  const SearchReport report =
      expect_the_processors_answer(train, mixed_table(random, 600, 25, nominal, 0.05, true), 10, options);
  EXPECT_EQ(report.uncertified, 0);
  EXPECT_LT(report.evaluated, 600 * 400);
  const Table complete = mixed_table(random, 50000, 25, nominal, 0.0, true);
  const SearchReport gaps =
      expect_the_processors_answer(complete, mixed_table(random, 600, 25, nominal, 0.05, true), 10, options);
  EXPECT_EQ(gaps.uncertified, 0) << "no training row lacks what the queries do";
  EXPECT_LT(gaps.evaluated, 600 * 400);
}

TEST_P(FilterCuda, Cosines) {
  Random random(7);
  for (int round = 0; round < 4 * rounds(); ++round) {
    const std::int64_t d = std::vector<std::int64_t>{2, 5, 30, 64, 128, 200}[random.below(6)];
    const std::int64_t n = std::vector<std::int64_t>{130, 5000}[random.below(2)];
    // Some rows are zeros, some point the same way, some have missing values, some are long.
    const auto value = [&](std::size_t r, std::size_t c) {
      if (r % 97 == 3) return 0.0;
      if (r % 89 == 4) return static_cast<double>(r * (c + 1));
      if (r % 211 == 5 && c == 1) return std::nan("");
      return (r % 53 == 0 ? 1e60 : 1.0) * (random.uniform() - 0.3);
    };
    const Table train = table_of(fill(n, d, value)), query = table_of(fill(200, d, value));
    for (const char* metric : {"cosine", "cosine-similarity"}) {
      KnnOptions options;
      options.metric.name = metric;
      if (random.below(3) == 0) {
        for (std::int64_t c = 0; c < d; ++c) options.feature_weights.push_back(0.5 + random.uniform());
      }
      SCOPED_TRACE(std::string(metric) + ", " + std::to_string(n) + " x " + std::to_string(d));
      expect_the_processors_answer(train, query, 10, options);
      if (HasFailure()) return;
    }
  }
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform() - 0.5; };
  KnnOptions options;
  options.metric.name = "cosine";
  const SearchReport report =
      expect_the_processors_answer(table_of(fill(50000, 64, uniform)), table_of(fill(500, 64, uniform)), 10, options);
  EXPECT_EQ(report.method, "filter, products");
  EXPECT_EQ(report.uncertified, 0);
}

// The heap's shape at every step decides which of several equal rows stay, and in which order.
TEST_P(FilterCuda, RapidMinersHeaps) {
  Random random(8);
  for (int round = 0; round < 6 * rounds(); ++round) {
    const std::int64_t n = std::vector<std::int64_t>{1, 40, 128, 129, 700, 6000, 30000}[random.below(7)];
    const std::int64_t d = std::vector<std::int64_t>{2, 6, 30, 128, 160}[random.below(5)];
    const std::int64_t k = std::min(n, std::vector<std::int64_t>{1, 2, 7, 24, 25, 128, 129, 512}[random.below(8)]);
    if (n * d > 1000000) continue;
    const std::uint64_t values = std::vector<std::uint64_t>{2, 3, 20, 100000}[random.below(4)];
    const auto value = [&](std::size_t r, std::size_t c) {
      if (values == 20 && r % 50 == 1 && c == 0) return std::nan("");
      return static_cast<double>(random.below(values));
    };
    const Table train = table_of(fill(n, d, value)), query = table_of(fill(150, d, value));
    for (const char* metric : {"mixed-euclidean", "cosine-similarity"}) {
      KnnOptions options;
      options.metric.name = metric;
      options.compat = Compat::rapidminer;
      SCOPED_TRACE(std::string(metric) + ", " + std::to_string(n) + " x " + std::to_string(d) + " of " +
                   std::to_string(values) + " values, k " + std::to_string(k));
      const std::string method = expect_the_processors_answer(train, query, k, options).method;
      // Small whole numbers may have images in bytes (bytes_cuda_test.cpp).
      EXPECT_TRUE(method == "filter, products" || (GetParam() == "usual" && method == "filter, byte products"))
          << method;
      if (n > k) expect_the_processors_answer(train, train.take({0, n / 2, n - 1}), k, options, false);
      if (HasFailure()) return;
    }
  }
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform(); };
  KnnOptions options;
  options.compat = Compat::rapidminer;
  const SearchReport report =
      expect_the_processors_answer(table_of(fill(100000, 50, uniform)), table_of(fill(600, 50, uniform)), 10, options);
  EXPECT_EQ(report.uncertified, 0);
  EXPECT_LT(report.evaluated, 600 * 800);
}

TEST_P(FilterCuda, LeaveOneOutWeightsAndRepeats) {
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

TEST_P(FilterCuda, UsualTablesNeedNoReference) {
  Random random(4);
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform(); };
  const SearchReport report =
      expect_the_processors_answer(table_of(fill(100000, 50, uniform)), table_of(fill(1000, 50, uniform)), 10);
  EXPECT_EQ(report.uncertified, 0);
  EXPECT_LT(report.evaluated, 1000 * 200);
}

// Numbers of neighbours and attributes at which the re-rank changes its way: one or several warps a query, a row a
// thread or a sort, 16 attributes at a time.
TEST_P(FilterCuda, NeighborsAndAttributesThatStraddleTheReRank) {
  Random random(11);
  const auto uniform = [&](std::size_t, std::size_t) { return random.uniform(); };
  for (const std::int64_t d : {17, 1, 8, 9, 15, 16, 31, 33, 48}) {
    const Table train = table_of(fill(3000, d, uniform)), query = table_of(fill(9, d, uniform));
    for (const std::int64_t k : {1, 23, 24, 25, 32, 33, 127, 128, 129, 256, 257, 1023, 1024}) {
      SCOPED_TRACE(std::to_string(d) + " attributes, k " + std::to_string(k));
      for (const char* metric : {"euclidean", "heom", "cosine"}) {
        KnnOptions options;
        options.metric.name = metric;
        const SearchReport report = expect_the_processors_answer(train, query, k, options);
        EXPECT_EQ(report.method, "filter, products");
        if (HasFailure()) return;
      }
    }
    expect_the_processors_answer(train, train.take({5, 6, 7, 2999}), 30);
    expect_the_processors_answer(train, train, 24, {}, true);
    if (HasFailure() || rounds() < 8) return;
  }
}

// Images of 32, 64 and 128 columns whose starts stand apart. The starts are shifted again only where a batch's longest
// query needs it. Batches have short, long and short queries, and the next search begins with the shift of the last.
TEST_P(FilterCuda, BatchesOfShortAndLongQueries) {
  Random random(15);
  setenv("STOPE_TILE_QUERIES", "256", 1);
  for (const std::int64_t d : {29, 30, 31, 32, 62, 94, 126}) {
    const Table train = table_of(fill(3000, d, [&](std::size_t, std::size_t) { return random.uniform() - 0.5; }));
    const Table query = table_of(fill(1300, d, [&](std::size_t r, std::size_t) {
      constexpr double kLengths[] = {1.0, 0.01, 20.0, 20.0, 0.5, 3.0};
      return kLengths[r / 256] * (random.uniform() - 0.5);
    }));
    SCOPED_TRACE(std::to_string(d) + " columns");
    const KnnIndex index = KnnIndex::fit(train);
    unsetenv("STOPE_BACKEND");
    const Neighbors expected = index.kneighbors(query, {.n_neighbors = 10}, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Neighbors found = index.kneighbors(query, {.n_neighbors = 10});
      EXPECT_EQ(found.indices, expected.indices);
      EXPECT_EQ(found.distances, expected.distances);
    }
    if (HasFailure()) break;
  }
  unsetenv("STOPE_TILE_QUERIES");
}

// Rows that are always listed take places that neighbours then lack.
TEST_P(FilterCuda, ManyRowsThatAreAlwaysListed) {
  Random random(14);
  for (const std::size_t every : {5000, 2000, 400}) {
    const Table train = table_of(
        fill(100000, 16, [&](std::size_t r, std::size_t) { return (r % every == 7 ? 50.0 : 1.0) * random.uniform(); }));
    const Table query = table_of(fill(100, 16, [&](std::size_t, std::size_t) { return random.uniform(); }));
    for (const std::int64_t k : {10, 100}) {
      SCOPED_TRACE("one of " + std::to_string(every) + ", k " + std::to_string(k));
      EXPECT_EQ(expect_the_processors_answer(train, query, k).uncertified, 0);
      if (HasFailure()) return;
    }
  }
}

// The first row is in every sample from which scales are chosen.
TEST_P(FilterCuda, AFewRowsFarOutLeaveTheOthersTheirDigits) {
  Random random(15);
  for (const double far : {1e4, 1e9, 1e40}) {
    const Table train = table_of(
        fill(100000, 16, [&](std::size_t r, std::size_t) { return (r % 2000 == 0 ? far : 1.0) * random.uniform(); }));
    const Table query = table_of(fill(100, 16, [&](std::size_t, std::size_t) { return random.uniform(); }));
    SCOPED_TRACE(far);
    const SearchReport report = expect_the_processors_answer(train, query, 10);
    EXPECT_EQ(report.uncertified, 0);
    EXPECT_LT(report.evaluated, 100 * 400);
  }
}

// There are as many neighbours as rows, or a few fewer: every row is listed, and half of the rows are listed always.
TEST_P(FilterCuda, AllRowsAreNeighbors) {
  Random random(12);
  for (const std::int64_t n : {1, 2, 24, 31, 33, 64, 100, 128, 129, 200, 1000, 1025}) {
    SCOPED_TRACE(std::to_string(n));
    const auto value = [&](std::size_t r, std::size_t) {
      return r % 2 == 0 ? random.uniform() : 1e5 * random.uniform();
    };
    const Table train = table_of(fill(n, 19, value)), query = table_of(fill(40, 19, value));
    expect_the_processors_answer(train, query, std::min<std::int64_t>(n, 1024));
    if (n > 1) expect_the_processors_answer(train, train, std::min<std::int64_t>(n - 1, 1024), {}, true);
    if (HasFailure()) return;
  }
}

// Equal rows at the cut are all evaluated, so that the lowest rows are returned. Queries are certified as long as the
// rows fit, and not beyond that.
TEST_P(FilterCuda, TiesUpToTheCapacities) {
  const auto search = [](std::int64_t copies, std::int64_t k) {
    return uncertified_among_copies(13, 12, 1000, copies, k);
  };
  EXPECT_EQ(search(12, 10), 0);
  EXPECT_EQ(search(60, 10), 0);
  EXPECT_EQ(search(70, 10), 50);  // 64 groups are re-ranked
  EXPECT_EQ(search(200, 100), 0);
  EXPECT_EQ(search(300, 100), 50);  // 256 groups are re-ranked
  EXPECT_EQ(search(300, 200), 0);
  EXPECT_EQ(search(2100, 200), 50);  // 2048 groups are re-ranked
}

using FilterCudaScan = NeedsGpu;

TEST_F(FilterCudaScan, NoSuchScan) {
  setenv("STOPE_BACKEND", "cuda", 1);
  setenv("STOPE_CUDA_SCAN", "sm70", 1);
  const Table table = table_of(fill(1000, 8, [](std::size_t r, std::size_t c) { return static_cast<double>(r * c); }));
  expect_error(ErrorCode::invalid_argument, "none of halves, bytes, few, sm75, sm80, sm90",
               [&] { KnnIndex::fit(table).kneighbors(table, {.n_neighbors = 1}); });
  unsetenv("STOPE_CUDA_SCAN");
  unsetenv("STOPE_BACKEND");
}

}  // namespace
}  // namespace stope
