// Compares rows and lists in GPU memory that another user of CUDA has made (gpu_memory.hpp) with host rows on the CPU,
// bit for bit. It covers both types, strides, every way of a search, streams, threads and errors. Skipped where there
// is no GPU.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/gpu_memory.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/gpu/caller_rows_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using device_array_cases::Lists;
using device_array_cases::Rows;
using gpu_memory::Array;
using gpu_memory::Driver;
using gpu_memory::Stream;

constexpr int kGpu = 0;

/// Has more rows than 6, so that there are 6 neighbours.
device_array_cases::Case usual_case(std::uint64_t seed) {
  Random random(seed);
  device_array_cases::Case job;
  while (job.train.n_rows < 1000 || !job.query.floating()) {
    job = device_array_cases::random_case(random, 3000, 500, 8);
  }
  job.options = {};
  job.search = {.n_neighbors = 6};
  return job;
}

class DeviceArraysCuda : public NeedsGpu {
 protected:
  void SetUp() override {
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
    driver_ = std::make_unique<Driver>(kGpu);
  }
  ~DeviceArraysCuda() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_TILE_QUERIES", "STOPE_DEVICE_ROWS"}) unsetenv(name);
  }
  Array put(const Rows& rows) const { return {*driver_, rows.bytes()}; }
  Lists search(const KnnIndex& index, const Rows& rows, const SearchOptions& options, void* stream = nullptr,
               const RunOptions& run = {}) const {
    const Array values = put(rows);
    Lists lists(rows.n_rows * options.n_neighbors);
    const Array indices(*driver_, lists.indices), distances(*driver_, lists.distances);
    lists.report = index.kneighbors(rows.array(values.as<char>(), kGpu, stream), options, run,
                                    NeighborArrays{indices.as<std::int64_t>(), distances.as<double>(), kGpu, stream});
    lists.indices = indices.values<std::int64_t>();
    lists.distances = distances.values<double>();
    return lists;
  }
  std::unique_ptr<Driver> driver_;
};

TEST_F(DeviceArraysCuda, ListsAreThoseOfRowsOnTheHost) {
  Random random(41);
  int in_place = 0, by_host = 0;
  const int n_rounds = 20 * rounds();
  for (int round = 0; round < n_rounds; ++round) {
    SCOPED_TRACE(round);
    const auto n_columns = 1 + static_cast<std::int64_t>(random.below(40));
    device_array_cases::Case job =
        device_array_cases::random_case(random, round % 3 == 0 ? 6000 : 300, 600, n_columns, 128);
    if (random.below(5) == 0 && job.options.compat == Compat::none) job.options.metric.name = "manhattan";
    if (random.below(3) == 0) setenv("STOPE_TILE_QUERIES", "100", 1);
    if (random.below(4) == 0) setenv("STOPE_DEVICE_ROWS", "900", 1);
    const KnnIndex index = KnnIndex::fit(job.train.table(), job.options);
    const Stream stream(*driver_);
    const Lists ours = search(index, job.query, job.search, random.below(2) == 0 ? stream.get() : nullptr);
    unsetenv("STOPE_TILE_QUERIES");
    unsetenv("STOPE_DEVICE_ROWS");
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
    (ours.report.method == "filter, products, on the GPU" ? in_place : by_host) += 1;
  }
  EXPECT_GT(in_place, n_rounds / 5);
  EXPECT_GT(by_host, n_rounds / 5);
}

TEST_F(DeviceArraysCuda, AnIndexOfRowsOnAGpu) {
  Random random(42);
  for (int round = 0; round < rounds(); ++round) {
    const device_array_cases::Case job = device_array_cases::random_case(random, 3000, 200, 10);
    KnnIndex index;
    {
      const Array values = put(job.train);
      index = KnnIndex::fit(job.train.array(values.as<char>(), kGpu), job.options);
    }
    const Lists ours = search(index, job.query, job.search);
    const KnnIndex theirs = KnnIndex::fit(job.train.table(), job.options);
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, ours));
  }
}

// Rows in a GPU's memory and lists on the host, and the other way round.
TEST_F(DeviceArraysCuda, RowsAndListsLieOnEitherSide) {
  Random random(45);
  for (int round = 0; round < 2 * rounds(); ++round) {
    const device_array_cases::Case job = device_array_cases::random_case(random, 3000, 300, 8);
    const KnnIndex index = KnnIndex::fit(job.train.table(), job.options);
    Lists ours(job.query.n_rows * job.search.n_neighbors);
    if (round % 2 == 0) {
      const Array values = put(job.query);
      ours.report = index.kneighbors(job.query.array(values.as<char>(), kGpu), job.search, {},
                                     NeighborArrays{ours.indices.data(), ours.distances.data()});
    } else {
      const std::vector<char> values = job.query.bytes();
      const Array indices(*driver_, ours.indices), distances(*driver_, ours.distances);
      ours.report = index.kneighbors(job.query.array(values.data(), -1), job.search, {},
                                     NeighborArrays{indices.as<std::int64_t>(), distances.as<double>(), kGpu});
      ours.indices = indices.values<std::int64_t>();
      ours.distances = distances.values<double>();
    }
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, ours));
  }
}

TEST_F(DeviceArraysCuda, ReleasedDevicesAreFilledAgain) {
  const device_array_cases::Case job = usual_case(46);
  const KnnIndex index = KnnIndex::fit(job.train.table());
  search(index, job.query, job.search);
  index.release_devices();
  device_array_cases::expect_the_processors(index, job, search(index, job.query, job.search));
}

// The caller's stream still has work queued when the search is called: rows are copied to their place only after a slow
// host function has returned.
TEST_F(DeviceArraysCuda, RowsMayStillBeOnTheirWay) {
  const device_array_cases::Case job = usual_case(43);
  const KnnIndex index = KnnIndex::fit(job.train.table());
  const Stream stream(*driver_);
  search(index, job.query, job.search, stream.get());  // makes the table's images
  const Array values = put(job.query), place(*driver_, std::vector<char>(job.query.bytes().size(), 0));
  Lists ours(job.query.n_rows * 6);
  const Array indices(*driver_, ours.indices), distances(*driver_, ours.distances);
  std::atomic<bool> slept = false;
  stream.run(
      [](void* flag) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        *static_cast<std::atomic<bool>*>(flag) = true;
      },
      &slept);
  stream.copy(place, values, job.query.bytes().size());
  ours.report =
      index.kneighbors(job.query.array(place.as<char>(), kGpu, stream.get()), job.search, {},
                       NeighborArrays{indices.as<std::int64_t>(), distances.as<double>(), kGpu, stream.get()});
  EXPECT_TRUE(slept);
  EXPECT_EQ(ours.report.method, "filter, products, on the GPU");
  ours.indices = indices.values<std::int64_t>();
  ours.distances = distances.values<double>();
  device_array_cases::expect_the_processors(index, job, ours);
}

TEST_F(DeviceArraysCuda, SeveralThreadsSearchAtOnce) {
  const device_array_cases::Case job = usual_case(44);
  const KnnIndex index = KnnIndex::fit(job.train.table());
  std::vector<Lists> ours(4, Lists(0));
  {
    std::vector<std::jthread> threads;
    for (Lists& mine : ours) {
      threads.emplace_back([&] {
        const Driver driver(kGpu);  // current for this thread
        const Stream stream(driver);
        mine = search(index, job.query, job.search, stream.get());
      });
    }
  }
  for (const Lists& mine : ours) ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(index, job, mine));
}

TEST_F(DeviceArraysCuda, MemoryOfTheHostIsRefused) {
  const std::vector<double> values(30, 0.5);
  const Rows rows{.n_rows = 10, .n_columns = 3, .stride = 3, .values = values};
  const KnnIndex index = KnnIndex::fit(rows.table());
  const Array there(*driver_, values), indices(*driver_, std::vector<std::int64_t>(10)),
      distances(*driver_, std::vector<double>(10));
  const auto refused = [&](const void* from, std::int64_t* to_indices, double* to_distances, int n_rows) {
    Rows some = rows;
    some.n_rows = n_rows;
    try {
      index.kneighbors(some.array(from, kGpu), {.n_neighbors = 1}, {}, NeighborArrays{to_indices, to_distances, kGpu});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      return true;
    }
    return false;
  };
  std::vector<std::int64_t> host_indices(10);
  std::vector<double> host_distances(10);
  auto* const to_indices = indices.as<std::int64_t>();
  auto* const to_distances = distances.as<double>();
  EXPECT_FALSE(refused(there.as<char>(), to_indices, to_distances, 10));
  EXPECT_TRUE(refused(values.data(), to_indices, to_distances, 10));
  EXPECT_TRUE(refused(there.as<char>(), host_indices.data(), to_distances, 10));
  EXPECT_TRUE(refused(there.as<char>(), to_indices, host_distances.data(), 10));
  EXPECT_TRUE(refused(there.as<char>(), to_indices, to_distances, 100000000)) << "beyond the memory's end";
}

}  // namespace
}  // namespace stope
