// Compares the host's half of the tensor filter on a GPU with the CPU, bit for bit: parts of the training table,
// several sessions on one GPU, blocks under way, sizes beyond 2^31, and every failure. Skipped where there is no GPU;
// without one, tensor_filter_fake_test.cpp tests the same paths.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/answers.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class FilterCudaParts : public NeedsGpu {
 protected:
  void SetUp() override {
    const DeviceInfo info = device_info();
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    for (const GpuInfo& gpu : info.gpus) n_gpus_ += gpu.available ? 1 : 0;
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
  }
  ~FilterCudaParts() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_TILE_QUERIES", "STOPE_DEVICE_ROWS", "STOPE_PART_ROWS"}) {
      unsetenv(name);
    }
    fault::arm_alloc(0);
    fault::arm_device(0);
  }
  static Neighbors on_processor(const KnnIndex& index, const Table& query, const SearchOptions& search) {
    unsetenv("STOPE_BACKEND");
    Neighbors theirs = index.kneighbors(query, search, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    return theirs;
  }
  int n_gpus_ = 0;
};

// Every fourth value is one of a few, so that there are ties.
Table random_table(std::int64_t n_rows, std::int64_t n_columns, std::uint64_t seed) {
  Random random(seed);
  Table table;
  table.n_rows = n_rows;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    Buffer<float> values(n_rows);
    for (float& value : values) {
      value = c % 4 == 0 ? static_cast<float>(random.below(4)) : static_cast<float>(random.uniform());
    }
    table.columns.push_back({"x" + std::to_string(c), ValueType::real, Role::regular, std::move(values), {}});
  }
  return table;
}

TEST_F(FilterCudaParts, AnyPartsBlocksAndGpusGiveTheSameLists) {
  Random random(1);
  const std::vector<std::int64_t> sizes = {129, 1000, 4097, 20000};
  for (int round = 0; round < 2 * rounds(12); ++round) {
    const std::int64_t n = sizes[random.below(sizes.size())], d = 1 + static_cast<std::int64_t>(random.below(80));
    SearchOptions search{.n_neighbors = random.below(2) == 0 ? 10 : 60, .exclude_self = random.below(3) == 0};
    SCOPED_TRACE(std::to_string(round) + ": " + std::to_string(n) + " x " + std::to_string(d));
    const Table train = random_table(n, d, 1);
    const Table query = search.exclude_self ? train : random_table(700, d, 2);
    set_size("STOPE_PART_ROWS", random.below(3) == 0 ? 900 : 0);  // if set, the host does not hold the table
    const KnnIndex index = KnnIndex::fit(train);
    const Neighbors theirs = on_processor(index, query, search);
    set_size("STOPE_DEVICE_ROWS", 1 + n / (1 + static_cast<std::int64_t>(random.below(5))));
    set_size("STOPE_TILE_QUERIES", random.below(2) == 0 ? 256 : 0);
    const RunOptions run{.device = n_gpus_ > 1 ? "cuda:0,1" : random.below(2) == 0 ? "cuda:0,0" : "cuda"};
    expect_same(index.kneighbors(query, search, run), theirs);
    if (HasFailure()) return;
  }
}

// Neither a GPU nor the host may hold the table.
TEST_F(FilterCudaParts, TablesBeyondTheMemoryLimit) {
  const Table train = random_table(400000, 40, 3), query = random_table(3000, 40, 4);
  const SearchOptions search{.n_neighbors = 10};
  const Neighbors theirs = on_processor(KnnIndex::fit(train), query, search);
  RunOptions run{.device = "cuda"};
  for (const std::int64_t megabytes : {200, 100}) {
    run.memory_limit = megabytes << 20;
    const KnnIndex index = KnnIndex::fit(train, {}, run);
    const SearchReport report = index.kneighbors(query, search, run, [](const Neighbors&) {});
    EXPECT_LE(report.memory_planned, run.memory_limit);
    if (megabytes == 200) {
      EXPECT_EQ(report.method, "filter, products, in parts");
    }
    ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search, run), theirs));
  }
}

TEST_F(FilterCudaParts, SeveralThreadsShareAnIndex) {
  const Table train = random_table(30000, 24, 5), query = random_table(2000, 24, 6);
  const KnnIndex index = KnnIndex::fit(train);
  const SearchOptions search{.n_neighbors = 5};
  const Neighbors theirs = on_processor(index, query, search);
  set_size("STOPE_TILE_QUERIES", 256);
  std::vector<Neighbors> ours(5);
  {
    std::vector<std::jthread> threads;
    for (Neighbors& mine : ours) {
      threads.emplace_back([&] {
        for (int i = 0; i < 4; ++i) mine = index.kneighbors(query, search, {.threads = 2, .device = "cuda"});
      });
    }
  }
  for (const Neighbors& mine : ours) expect_same(mine, theirs);
}

TEST_F(FilterCudaParts, EveryAllocationFailsOnce) {
  const Table train = random_table(3000, 9, 7), query = random_table(300, 9, 8);
  const KnnIndex held = KnnIndex::fit(train);
  const Neighbors theirs = on_processor(held, query, {});
  for (const std::int64_t device_rows : {0, 1000}) {
    set_size("STOPE_DEVICE_ROWS", device_rows);
    const auto fit = [&] { return KnnIndex::fit(train); };
    const auto search = [&](const KnnIndex& index) { return index.kneighbors(query, {}, {.device = "cuda"}); };
    EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 30);
  }
}

TEST_F(FilterCudaParts, TheGpuIsLostAtEveryCall) {
  const Table train = random_table(3000, 9, 7), query = random_table(300, 9, 8);
  const Neighbors theirs = on_processor(KnnIndex::fit(train), query, {});
  for (const std::int64_t device_rows : {0, 1000}) {
    set_size("STOPE_DEVICE_ROWS", device_rows);
    const auto search = [&] { return KnnIndex::fit(train).kneighbors(query, {}, {.device = "cuda"}); };
    EXPECT_GT(lose_the_gpu_at_every_call(theirs, search, 3), 20);
  }
}

// There are 70,000 x 40,000 pairs, more than 2^31.
TEST_F(FilterCudaParts, MorePairsThan32BitsCount) {
  const Table train = random_table(70000, 4, 9), query = random_table(40000, 4, 10);
  const KnnIndex index = KnnIndex::fit(train);
  const SearchOptions search{.n_neighbors = 3};
  const RunOptions run{.device = "cuda"};
  const Neighbors ours = index.kneighbors(query, search, run);
  EXPECT_EQ(index.kneighbors(query, search, run, [](const Neighbors&) {}).pairs, std::int64_t{70000} * 40000);
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < 400; ++i) some.push_back(query.n_rows - 1 - 97 * i);
  const Neighbors theirs = on_processor(index, query.take(some), search);
  for (std::size_t i = 0; i < some.size(); ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const std::size_t at = static_cast<std::size_t>(some[i]) * 3 + j;
      ASSERT_EQ(ours.indices[at], theirs.indices[i * 3 + j]);
      ASSERT_EQ(std::bit_cast<std::uint64_t>(ours.distances[at]),
                std::bit_cast<std::uint64_t>(theirs.distances[i * 3 + j]));
    }
  }
}

// 25 million queries have 100 neighbours each: the result is handed on block by block, and its offsets pass 2^31.
TEST_F(FilterCudaParts, MoreNeighborsThan32BitsCount) {
  constexpr std::int64_t kQueries = 25'000'000, kNeighbors = 100;
  const Table train = random_table(128, 1, 11);
  Table query;
  query.n_rows = kQueries;
  Buffer<float> values(kQueries);
  for (std::int64_t i = 0; i < kQueries; ++i) values[i] = static_cast<float>(i % 1000) * 0.004F;
  query.columns.push_back({"x0", ValueType::real, Role::regular, std::move(values), {}});
  const KnnIndex index = KnnIndex::fit(train);
  std::vector<std::int64_t> first;
  for (std::int64_t i = 0; i < 1000; ++i) first.push_back(i);
  const Neighbors theirs = on_processor(index, query.take(first), {.n_neighbors = kNeighbors});
  std::int64_t seen = 0, wrong = 0;
  index.kneighbors(query, {.n_neighbors = kNeighbors}, {.device = "cuda"}, [&](const Neighbors& block) {
    ASSERT_EQ(block.first_query, seen);
    for (const std::int64_t i : {std::int64_t{0}, block.n_queries() / 2, block.n_queries() - 1}) {
      const auto at = static_cast<std::size_t>((seen + i) % 1000 * kNeighbors);
      for (std::size_t j = 0; j < kNeighbors; ++j) {
        wrong += block.indices[static_cast<std::size_t>(i * kNeighbors) + j] == theirs.indices[at + j] ? 0 : 1;
      }
    }
    seen += block.n_queries();
  });
  EXPECT_EQ(seen, kQueries);
  EXPECT_EQ(wrong, 0);
}

// A training table of more than 2^31 values takes 17 GB on the host and on the GPU, and a minute: STOPE_LARGE=1.
TEST_F(FilterCudaParts, MoreValuesThan32BitsCount) {
  if (std::getenv("STOPE_LARGE") == nullptr) GTEST_SKIP() << "STOPE_LARGE is not set: this needs 26 GB and a minute";
  constexpr std::int64_t kRows = 17'000'000, kColumns = 128;
  Table train;
  train.n_rows = kRows;
  for (std::int64_t c = 0; c < kColumns; ++c) {
    Buffer<float> values(kRows);
    for (std::int64_t i = 0; i < kRows; ++i) {
      values[i] = static_cast<float>(static_cast<std::uint64_t>(i * 131 + c) * 0x9e3779b97f4a7c15 >> 40);
    }
    train.columns.push_back({"x" + std::to_string(c), ValueType::real, Role::regular, std::move(values), {}});
  }
  const KnnIndex index = KnnIndex::fit(train);
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < 64; ++i) some.push_back(kRows - 1 - 250'001 * i);
  const Table query = train.take(some);
  const Neighbors ours = index.kneighbors(query, {.n_neighbors = 3}, {.device = "cuda"});
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(ours.indices[3 * i], some[i]);
    EXPECT_EQ(ours.distances[3 * i], 0.0);
  }
  // So few that the CPU makes no images of the table.
  some.resize(4);
  const Neighbors theirs = on_processor(index, train.take(some), {.n_neighbors = 3});
  for (std::size_t i = 0; i < theirs.indices.size(); ++i) {
    EXPECT_EQ(ours.indices[i], theirs.indices[i]);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(ours.distances[i]), std::bit_cast<std::uint64_t>(theirs.distances[i]));
  }
}

}  // namespace
}  // namespace stope
