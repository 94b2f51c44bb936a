// Compares indices of rows in GPU memory that another user of CUDA has made (gpu_memory.hpp) with those of host rows:
// what is found out about the columns on the GPU, rows that come back, lists, predictions. Skipped where there is no
// GPU.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "device/gpu_memory.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/caller_predictions_cases.hpp"
#include "knn/gpu/gpu_table.hpp"

namespace stope {
namespace {

using device_array_cases::Lists;
using device_array_cases::Rows;
using gpu_memory::Array;
using gpu_memory::Driver;
using gpu_memory::Stream;

constexpr int kGpu = 0;

bool alone_on_gpu(const KnnIndex& index) {
  return index.fitted().rows_alone_on(kGpu) != nullptr;
}

class FitFromGpuCuda : public NeedsGpu {
 protected:
  void SetUp() override {
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
    driver_ = std::make_unique<Driver>(kGpu);
  }
  ~FitFromGpuCuda() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_TILE_QUERIES"}) unsetenv(name);
  }
  /// The memory is gone when it returns.
  KnnIndex fit(const Rows& rows, const KnnOptions& options = {}, void* stream = nullptr) const {
    const Array values(*driver_, rows.bytes());
    return KnnIndex::fit(rows.array(values.as<char>(), kGpu, stream), options);
  }
  Lists search(const KnnIndex& index, const Rows& rows, const SearchOptions& options, void* stream = nullptr) const {
    const Array values(*driver_, rows.bytes());
    Lists lists(rows.n_rows * options.n_neighbors);
    const Array indices(*driver_, lists.indices), distances(*driver_, lists.distances);
    lists.report = index.kneighbors(rows.array(values.as<char>(), kGpu, stream), options, {},
                                    NeighborArrays{indices.as<std::int64_t>(), distances.as<double>(), kGpu, stream});
    lists.indices = indices.values<std::int64_t>();
    lists.distances = distances.values<double>();
    return lists;
  }
  std::unique_ptr<Driver> driver_;
};

void expect_same_columns(const KnnIndex& ours, const KnnIndex& theirs) {
  ASSERT_EQ(ours.n_features(), theirs.n_features());
  EXPECT_EQ(ours.all_finite(), theirs.all_finite());
  for (std::size_t a = 0; a < ours.fitted().attributes().size(); ++a) {
    const knn::Attribute &mine = ours.fitted().attributes()[a], &other = theirs.fitted().attributes()[a];
    ASSERT_EQ(std::bit_cast<std::uint64_t>(mine.range), std::bit_cast<std::uint64_t>(other.range)) << a;
    ASSERT_EQ(mine.missing, other.missing) << a;
  }
}

void expect_same_rows(const double* ours, const double* theirs, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(ours[i]) && std::isnan(theirs[i])) continue;
    ASSERT_EQ(std::bit_cast<std::uint64_t>(ours[i]), std::bit_cast<std::uint64_t>(theirs[i])) << i;
  }
}

// Widths beside the threads of a block and of a whole launch; rows that are missing, infinite or all the same.
TEST_F(FitFromGpuCuda, PropertiesOfColumnsAndRowsAreThoseOnTheHost) {
  Random random(81);
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool sanitized = rounds() < 8;
  std::vector<std::int64_t> widths = {1, 2, 3, 7, 31, 32, 33, 255, 256, 257, 1000, 65536, 65537, 70000};
  if (sanitized) widths = {1, 3, 33, 257, 65537};
  for (const std::int64_t width : widths) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{2}, std::int64_t{65}, std::int64_t{4099}}) {
      if (n * width > (std::int64_t{1} << (sanitized ? 17 : 21))) continue;
      SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(width));
      Rows rows = device_array_cases::random_rows(random, n, width, false,
                                                  random.below(2) == 0 ? ElementType::float32 : ElementType::float64);
      for (double& value : rows.values) {
        const std::uint64_t kind = random.below(64);
        if (kind == 0) value = std::nan("");
        if (kind == 1 && random.below(16) == 0) value = random.below(2) == 0 ? kInf : -kInf;
        if (kind == 2) value = -0x1p100;  // a float32 as well
      }
      const KnnIndex ours = fit(rows), theirs = KnnIndex::fit(rows.table());
      EXPECT_TRUE(alone_on_gpu(ours));
      expect_same_columns(ours, theirs);
      const std::vector<double> mine = ours.fitted().sample(100), other = theirs.fitted().sample(100);
      ASSERT_EQ(mine.size(), other.size());
      expect_same_rows(mine.data(), other.data(), std::ssize(mine));
      EXPECT_TRUE(alone_on_gpu(ours));
      expect_same_rows(ours.rows(), theirs.rows(), n * width);
      EXPECT_FALSE(alone_on_gpu(ours));
      if (HasFailure()) return;
    }
  }
}

TEST_F(FitFromGpuCuda, ListsAreThoseOfRowsOnTheHost) {
  Random random(82);
  int stayed = 0;
  const int n_rounds = 16 * rounds();
  for (int round = 0; round < n_rounds; ++round) {
    SCOPED_TRACE(round);
    const auto n_columns = 1 + static_cast<std::int64_t>(random.below(100));
    const device_array_cases::Case job =
        device_array_cases::random_case(random, round % 3 == 0 ? 6000 : 300, 400, n_columns, 128);
    if (random.below(3) == 0) setenv("STOPE_TILE_QUERIES", "100", 1);
    const Stream stream(*driver_);
    void* const theirs_or_none = random.below(2) == 0 ? stream.get() : nullptr;
    const KnnIndex ours = fit(job.train, job.options, theirs_or_none);
    const Lists lists = search(ours, job.query, job.search, theirs_or_none);
    unsetenv("STOPE_TILE_QUERIES");
    stayed += alone_on_gpu(ours) ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(
        device_array_cases::expect_the_processors(KnnIndex::fit(job.train.table(), job.options), job, lists));
    ours.release_devices();
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(ours, job, lists));
  }
  EXPECT_GT(stayed, n_rounds / 10);
}

// Queries far out have no certificate, and a radius has no filter: the reference on the GPU answers from the rows
// there.
TEST_F(FitFromGpuCuda, LeavesTheTableThereForTheReference) {
  Random random(85);
  for (const std::int64_t n : {std::int64_t{900}, std::int64_t{20000}}) {
    device_array_cases::Case job;
    job.train = device_array_cases::random_rows(random, n, 40, true, ElementType::float64);
    job.query = device_array_cases::random_rows(random, 90, 40, true, ElementType::float64);
    for (std::size_t i = 0; i < job.query.values.size() / 2; ++i) job.query.values[i] += 1e9;
    job.search = {.n_neighbors = 5};
    const KnnIndex ours = fit(job.train), theirs = KnnIndex::fit(job.train.table());
    const Lists lists = search(ours, job.query, job.search);
    const Array values(*driver_, job.query.bytes());
    const Neighbors near = ours.radius_neighbors(job.query.array(values.as<char>(), kGpu), 8.0);
    EXPECT_TRUE(alone_on_gpu(ours)) << lists.report.method;
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, lists));
    const vote_cases::NoForcedBackend free;
    const Neighbors expected = theirs.radius_neighbors(job.query.table(), 8.0, {}, {.device = "cpu"});
    EXPECT_EQ(near.offsets, expected.offsets);
    EXPECT_EQ(near.indices, expected.indices);
    vote_cases::expect_bits(near.distances, expected.distances);
  }
}

// The table's rows are on their way to their place when the fit is called.
TEST_F(FitFromGpuCuda, RowsMayStillBeOnTheirWay) {
  Random random(83);
  const Rows rows = device_array_cases::random_rows(random, 3000, 8, false, ElementType::float32);
  const Stream stream(*driver_);
  const Array values(*driver_, rows.bytes()), place(*driver_, std::vector<char>(rows.bytes().size(), 0));
  std::atomic<bool> slept = false;
  stream.run(
      [](void* flag) {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
        *static_cast<std::atomic<bool>*>(flag) = true;
      },
      &slept);
  stream.copy(place, values, rows.bytes().size());
  const KnnIndex ours = KnnIndex::fit(rows.array(place.as<char>(), kGpu, stream.get()));
  EXPECT_TRUE(slept);
  EXPECT_TRUE(alone_on_gpu(ours));
  expect_same_rows(ours.rows(), KnnIndex::fit(rows.table()).rows(), 3000 * 8);
}

// Some threads want the rows on the host while others search on the GPU.
TEST_F(FitFromGpuCuda, SeveralThreadsSearchAtOnce) {
  Random random(84);
  device_array_cases::Case job;
  job.train = device_array_cases::random_rows(random, 5000, 12, false, ElementType::float32);
  job.query = device_array_cases::random_rows(random, 700, 12, false, ElementType::float32);
  job.search = {.n_neighbors = 6};
  const KnnIndex index = fit(job.train), theirs = KnnIndex::fit(job.train.table());
  std::vector<Lists> ours(6, Lists(0));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      threads.emplace_back([&, i] {
        const Driver driver(kGpu);  // current for this thread
        const Stream stream(driver);
        if (i % 3 == 0) {
          EXPECT_NE(index.rows(), nullptr);
        }
        ours[i] = search(index, job.query, job.search, stream.get());
      });
    }
  }
  for (const Lists& mine : ours) ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, mine));
}

}  // namespace
}  // namespace stope
