// Compares the tensor filter's images in bytes with the CPU, bit for bit. Tables have small whole numbers of every
// kind, sizes that straddle tiles and blocks, ties, and rows and queries off the grid. Where a GPU has no scan of
// bytes, halves are tested. Skipped where there is no GPU; byte_grid_test.cpp and tensor_filter_fake_test.cpp test the
// host's decisions without one.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "knn/answers.hpp"
#include "knn/gpu/tensor/tensor_filter_cases.hpp"
#include "stope/device.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

constexpr const char* kHalves = "filter, products";

class FilterCudaBytes : public NeedsGpu {
 protected:
  void SetUp() override {
    const DeviceInfo device = device_info();
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    if (device.gpus.front().arch != "sm_90") bytes_ = kHalves;
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
    scan("bytes");                       // however few columns
  }
  ~FilterCudaBytes() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_CUDA_SCAN", "STOPE_DEVICE_ROWS", "STOPE_TILE_QUERIES"}) {
      unsetenv(name);
    }
  }
  static void scan(const char* name) { setenv("STOPE_CUDA_SCAN", name, 1); }

  std::string bytes_ = "filter, byte products";
};

/// Whole numbers of steps from a centre. Some of the first rows have the least and the largest number.
struct Grid {
  const char* name;
  double least, largest, step;
};
constexpr Grid kGrids[] = {{"bytes", 0, 255, 1},
                           {"signed", -128, 127, 1},
                           {"a few", 0, 3, 1},
                           {"binary", 0, 1, 1},
                           {"around zero", -31, 31, 1},
                           {"just beyond", -32, 31, 1},
                           {"offset", 1e6, 1e6 + 255, 1},
                           {"far", -1e15, -1e15 + 60, 1},
                           {"quarters", -3, 3, 0.25},
                           {"large steps", -8e9, 8e9, 1e9},
                           {"large powers", 0, 0x1p40, 0x1p33},
                           {"tiny", 0, 0x1p-92, 0x1p-99}};

Table table_on(const Grid& grid, Random& random, std::int64_t n, std::int64_t d) {
  const auto steps = static_cast<std::uint64_t>((grid.largest - grid.least) / grid.step) + 1;
  return table_of(fill(n, d, [&](std::size_t r, std::size_t) {
    const bool has_largest = r == 1 || r == 2 || r == 4 || r == 5 || r == 39;  // some of them are in any sample
    const std::uint64_t at = r == 0 ? 0 : has_largest ? steps - 1 : random.below(steps);
    return grid.least + grid.step * static_cast<double>(at);
  }));
}

TEST_F(FilterCudaBytes, SizesThatStraddleTiles) {
  Random random(1);
  const std::vector<std::int64_t> rows = {2, 3, 31, 127, 128, 129, 1000, 4097, 20000};
  const std::vector<std::int64_t> queries = {1, 2, 16, 17, 63, 64, 65, 255, 256, 257, 600};
  // For images of 128 and 256 bytes.
  const std::vector<std::int64_t> columns = {1, 2, 15, 16, 17, 64, 65, 127, 128, 129, 192, 255, 256};
  const std::vector<std::int64_t> neighbors = {1, 2, 10, 24, 25, 60, 128, 129, 400, 1024};
  for (int round = 0; round < 15 * rounds(); ++round) {
    const Grid& grid = kGrids[random.below(std::size(kGrids))];
    const std::int64_t n = rows[random.below(rows.size())], m = queries[random.below(queries.size())];
    const std::int64_t d = columns[random.below(columns.size())];
    const std::int64_t k = std::min(n, neighbors[random.below(neighbors.size())]);
    if (n * d > 3000000) continue;
    SCOPED_TRACE(std::string(grid.name) + ", " + std::to_string(n) + " x " + std::to_string(m) + " x " +
                 std::to_string(d) + ", k " + std::to_string(k));
    const Table train = table_on(grid, random, n, d), query = table_on(grid, random, m, d);
    const SearchReport report = expect_the_processors_answer(train, query, k);
    // The grid of a few rows may be coarser than the table's. A billion is a multiple of 512, but not of a power of two
    // large enough to leave few steps.
    const bool halves = std::string(grid.name) == "large steps";
    if (n >= 31) {
      EXPECT_EQ(report.method, halves ? kHalves : bytes_);
    }
    if (n > k && n <= 4097) expect_the_processors_answer(train, train, k, {}, true);
    if (HasFailure()) return;
  }
}

TEST_F(FilterCudaBytes, MeasuresThatCompareNumbersAsTheyStand) {
  Random random(2);
  for (const Grid& grid : {kGrids[0], kGrids[2], kGrids[6]}) {
    const Table train = table_on(grid, random, 3000, 100), query = table_on(grid, random, 300, 100);
    for (const char* metric : {"euclidean", "sqeuclidean", "mixed-euclidean", "heom", "cosine"}) {
      KnnOptions options;
      options.metric.name = metric;
      for (const std::int64_t k : {1, 24, 25, 128, 129}) {
        SCOPED_TRACE(std::string(grid.name) + ", " + metric + ", k " + std::to_string(k));
        const SearchReport report = expect_the_processors_answer(train, query, k, options);
        EXPECT_EQ(report.method, std::string(metric).find("euclidean") == std::string::npos ? kHalves : bytes_);
        if (HasFailure()) return;
      }
    }
  }
}

// Many rows share most distances. Bytes leave no more of them undecided than halves do, since bytes are exact.
TEST_F(FilterCudaBytes, ManyEqualDistances) {
  Random random(3);
  struct Kind {
    const char* name;
    std::function<double(std::size_t, std::size_t)> value;
  };
  const std::vector<Kind> kinds = {
      {"binary", [&](std::size_t, std::size_t) { return static_cast<double>(random.below(2)); }},
      {"one in eight",
       [&](std::size_t r, std::size_t c) { return (r * 7 + r / 8 * (c / 8)) % 8 == c % 8 ? 1.0 : 0.0; }},
      {"sparse counts",
       [&](std::size_t, std::size_t) {
         return random.below(20) == 0 ? static_cast<double>(1 + random.below(3)) : 0.0;
       }},
      {"few rows", [&](std::size_t r, std::size_t c) { return static_cast<double>((r % 5 * 31 + c * 7) % 256); }},
      {"constant", [&](std::size_t, std::size_t) { return 7.0; }},
      {"all at one distance", [&](std::size_t r, std::size_t c) { return r % 128 == c ? 200.0 : 0.0; }}};
  for (const Kind& kind : kinds) {
    const Table train = table_of(stope::fill(9000, 128, kind.value)),
                query = table_of(stope::fill(200, 128, kind.value));
    for (const std::int64_t k : {1, 10, 100}) {
      SCOPED_TRACE(std::string(kind.name) + ", k " + std::to_string(k));
      scan("halves");
      const SearchReport halves = expect_the_processors_answer(train, query, k);
      scan("bytes");
      const SearchReport bytes = expect_the_processors_answer(train, query, k);
      EXPECT_EQ(halves.method, kHalves);
      EXPECT_EQ(bytes.method, bytes_);
      EXPECT_LE(bytes.uncertified, halves.uncertified + 10) << "samples are cut in other ways";
      if (HasFailure()) return;
    }
  }
}

// See FilterCuda.TiesUpToTheCapacities.
TEST_F(FilterCudaBytes, TiesUpToTheCapacities) {
  const auto search = [](std::int64_t copies, std::int64_t k) {
    return uncertified_among_copies(4, 100, 256, copies, k);
  };
  EXPECT_EQ(search(12, 10), 0);
  EXPECT_EQ(search(60, 10), 0);
  EXPECT_EQ(search(70, 10), 50);  // 64 groups are re-ranked
  EXPECT_EQ(search(200, 100), 0);
  EXPECT_EQ(search(300, 100), 50);  // 256 groups are re-ranked
}

// A few such queries keep their bound, which then has a residual, or have none. For many, images of halves are made.
TEST_F(FilterCudaBytes, QueriesBesideTheGrid) {
  Random random(5);
  const Grid& grid = kGrids[0];
  const Table train = table_on(grid, random, 5000, 128);
  const auto queries = [&](std::int64_t n, std::size_t every, double added) {
    return table_of(fill(n, 128, [&](std::size_t r, std::size_t c) {
      const double value = static_cast<double>(random.below(256));
      return r % every == 0 && c % 5 == 0 ? value + added : value;
    }));
  };
  for (const double added : {0.5, 0x1p-40, 0.01, 2.0, -60.0, 300.0, 1e300, HUGE_VAL, std::nan("")}) {
    for (const std::int64_t k : {1, 10, 100}) {
      SCOPED_TRACE("added " + std::to_string(added) + ", k " + std::to_string(k));
      const SearchReport few = expect_the_processors_answer(train, queries(300, 100, added), k);
      EXPECT_EQ(few.method, bytes_);
      const SearchReport many = expect_the_processors_answer(train, queries(300, 1, added), k);
      EXPECT_EQ(many.method, added == 2.0 ? bytes_ : kHalves) << "most are still within";
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(expect_the_processors_answer(train, queries(300, 100, 0.01), 10).uncertified, 0);
}

TEST_F(FilterCudaBytes, RowsBesideTheGrid) {
  Random random(6);
  // No sample of 1024 rows has these values; all of them lie within the range of bytes.
  const auto rows = [&](std::size_t every, double value) {
    return table_of(fill(9000, 128, [&](std::size_t r, std::size_t c) {
      const bool sampled = (r * 1024 + 8999) / 9000 * 9000 / 1024 == r;
      return r % every == 5 && !sampled && c == 3 ? value : static_cast<double>(random.below(101));
    }));
  };
  for (const double value : {0.5, 33.0 + 0x1p-30, 128.0, 199.0}) {
    const Table query =
        table_of(fill(200, 128, [&](std::size_t, std::size_t) { return static_cast<double>(random.below(101)); }));
    SCOPED_TRACE(value);
    const SearchReport few = expect_the_processors_answer(rows(3001, value), query, 10);
    EXPECT_EQ(few.method, bytes_);
    EXPECT_EQ(few.uncertified, 0);
    EXPECT_EQ(expect_the_processors_answer(rows(7, value), query, 10).method, kHalves);
    if (HasFailure()) return;
  }
}

TEST_F(FilterCudaBytes, UsualTablesNeedNoReference) {
  Random random(7);
  const auto byte = [&](std::size_t, std::size_t) { return static_cast<double>(random.below(256)); };
  scan("");
  for (const std::int64_t d : {65, 128, 200}) {
    const Table train = table_of(fill(60000, d, byte)), query = table_of(fill(1000, d, byte));
    const SearchReport report = expect_the_processors_answer(train, query, 10);
    EXPECT_EQ(report.method, bytes_) << d;
    EXPECT_EQ(report.uncertified, 0) << d;
    EXPECT_LT(report.evaluated, 1000 * 200) << d;
  }
}

TEST_F(FilterCudaBytes, Switches) {
  Random random(8);
  const Table narrow = table_on(kGrids[0], random, 700, 64), wide = table_on(kGrids[0], random, 700, 65);
  const auto method = [&](const Table& table, const char* name) {
    scan(name);
    return expect_the_processors_answer(table, table.take({0, 5, 699}), 3).method;
  };
  EXPECT_EQ(method(narrow, ""), kHalves);
  EXPECT_EQ(method(narrow, "bytes"), bytes_);
  EXPECT_EQ(method(wide, ""), bytes_);
  EXPECT_EQ(method(wide, "halves"), kHalves);
  if (device_info().gpus.front().arch != "sm_75") {
    EXPECT_EQ(method(wide, "sm80"), kHalves);
  }
  EXPECT_EQ(method(wide, "few"), kHalves);
  EXPECT_EQ(method(table_on(kGrids[0], random, 700, 257), "bytes"), kHalves);
}

TEST_F(FilterCudaBytes, PartsBatchesAndSessions) {
  Random random(9);
  for (int round = 0; round < 2 * rounds(); ++round) {
    const Grid& grid = kGrids[std::vector<int>{0, 2, 6}[random.below(3)]];
    const std::int64_t n = std::vector<std::int64_t>{129, 1000, 4097}[random.below(3)];
    const std::int64_t d = 100 + static_cast<std::int64_t>(random.below(60));
    const Table train = table_on(grid, random, n, d);
    SearchOptions search{.n_neighbors = random.below(2) == 0 ? 10 : 60, .exclude_self = random.below(3) == 0};
    const Table query = search.exclude_self ? train : table_on(grid, random, 700, d);
    const KnnIndex index = KnnIndex::fit(train);
    unsetenv("STOPE_BACKEND");
    const Neighbors theirs = index.kneighbors(query, search, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    const bool in_parts = random.below(2) == 0;
    const auto set = [](const char* name, std::int64_t size) {
      size > 0 ? setenv(name, std::to_string(size).c_str(), 1) : unsetenv(name);
    };
    set("STOPE_DEVICE_ROWS", in_parts ? n / 3 : 0);
    set("STOPE_TILE_QUERIES", random.below(2) == 0 ? 256 : 0);
    const RunOptions run{.device = random.below(2) == 0 ? "cuda:0,0" : "cuda:0"};
    SCOPED_TRACE(std::string(grid.name) + ", " + std::to_string(n) + (in_parts ? ", in parts" : "") + " on " +
                 run.device);
    for (int repeat = 0; repeat < 2; ++repeat) expect_same(index.kneighbors(query, search, run), theirs);
    EXPECT_EQ(index.kneighbors(query, search, run, [](const Neighbors&) {}).method,
              bytes_ + (in_parts ? ", in parts" : ""));
    if (HasFailure()) return;
  }
}

TEST_F(FilterCudaBytes, RapidMinersHeaps) {
  Random random(10);
  KnnOptions options;
  options.compat = Compat::rapidminer;
  for (const std::uint64_t values : {2U, 3U, 20U, 256U}) {
    for (const std::int64_t n : {40, 129, 700, 6000}) {
      for (const std::int64_t k : {1, 7, 24, 25, 128}) {
        if (k > n) continue;
        SCOPED_TRACE(std::to_string(values) + " values, " + std::to_string(n) + " rows, k " + std::to_string(k));
        const Grid grid{"", 0, static_cast<double>(values - 1), 1};
        const Table train = table_on(grid, random, n, 128), query = table_on(grid, random, 150, 128);
        EXPECT_EQ(expect_the_processors_answer(train, query, k, options).method, bytes_);
        if (HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace stope
