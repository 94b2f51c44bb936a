// Indices of rows in a GPU's memory that stay there, with the fake plug-in (device/fake_plugin.cpp), which counts what
// would have crossed the bus. No GPU is needed; fit_from_gpu_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "device/fake_counts.hpp"
#include "device/with_fake_plugin.hpp"
#include "environment.hpp"
#include "forking.hpp"
#include "knn/fitted.hpp"
#include "knn/gpu/caller_predictions_cases.hpp"
#include "knn/gpu/gpu_table.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using device_array_cases::Lists;
using device_array_cases::Rows;

constexpr int kGpu = 1;  // the one that can be used

bool alone_on_gpu(const KnnIndex& index) {
  return index.fitted().rows_alone_on(kGpu) != nullptr;
}

Rows numbers(std::int64_t n, std::int64_t n_columns, ElementType type = ElementType::float32) {
  Random random(static_cast<std::uint64_t>(n));
  Rows rows{.n_rows = n, .n_columns = n_columns, .stride = n_columns, .type = type};
  for (std::int64_t i = 0; i < n * n_columns; ++i) {
    rows.values.push_back(static_cast<double>(static_cast<float>(random.uniform() * 0.5)));
  }
  return rows;
}

class FakeFitFromGpu : public testing::Test, protected WithFakePlugin {
 protected:
  FakeFitFromGpu() : WithFakePlugin("filters", "cuda") {}

  static KnnIndex fit(const Rows& rows, const KnnOptions& options = {}, const RunOptions& run = {}) {
    std::vector<char> memory = rows.bytes();  // host memory stands in for GPU memory, and is gone after the fit
    KnnIndex index = KnnIndex::fit(rows.array(memory.data(), kGpu), options, run);
    std::fill(memory.begin(), memory.end(), '\0');
    return index;
  }
  static Lists search(const KnnIndex& index, const Rows& rows, const SearchOptions& options, const RunOptions& run,
                      int where = kGpu) {
    const std::vector<char> memory = rows.bytes();
    Lists lists(rows.n_rows * options.n_neighbors);
    lists.report = index.kneighbors(rows.array(memory.data(), where), options, run,
                                    NeighborArrays{lists.indices.data(), lists.distances.data(), where});
    return lists;
  }
  RunOptions run_ = {.threads = 2};
};

TEST_F(FakeFitFromGpu, ListsAndAttributesAreThoseOfRowsOnTheHost) {
  Random random(71);
  int stayed = 0;
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const device_array_cases::Case job = device_array_cases::random_case(random, 300, 100, 3);
    set_size("STOPE_TILE_QUERIES", 1 + random.below(80));
    run_.device = std::vector<std::string>{"auto", "cuda", "cuda:1", "cuda:1,1", "cpu"}[random.below(5)];
    if (run_.device == "cpu") unsetenv("STOPE_BACKEND");
    const KnnIndex ours = fit(job.train, job.options), theirs = KnnIndex::fit(job.train.table(), job.options);
    EXPECT_EQ(alone_on_gpu(ours), job.train.floating() && job.options.feature_weights.empty());
    EXPECT_EQ(ours.all_finite(), theirs.all_finite());
    for (std::size_t a = 0; a < ours.fitted().attributes().size(); ++a) {
      EXPECT_EQ(ours.fitted().attributes()[a].range, theirs.fitted().attributes()[a].range);
      EXPECT_EQ(ours.fitted().attributes()[a].missing, theirs.fitted().attributes()[a].missing);
    }
    const Lists lists = search(ours, job.query, job.search, run_, random.below(2) == 0 ? kGpu : -1);
    stayed += alone_on_gpu(ours) ? 1 : 0;
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, lists));
    ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(ours, job, lists));
    setenv("STOPE_BACKEND", "cuda", 1);
  }
  EXPECT_GT(stayed, 5);
}

// A table of 480,000 bytes: what chooses scales is a sample of it.
TEST_F(FakeFitFromGpu, TheTableIsNotCopiedToTheHost) {
  constexpr std::int64_t kRows = 20000, kColumns = 3, kTable = kRows * kColumns * 8;
  const Rows train = numbers(kRows, kColumns), query = numbers(64, kColumns);
  const SearchOptions search_for{.n_neighbors = 4};
  for (const bool from_gpu : {true, false}) {
    const CountedBytes bytes;
    const KnnIndex index = from_gpu ? fit(train) : KnnIndex::fit(train.table());
    const Lists lists = search(index, query, search_for, run_);
    EXPECT_EQ(lists.report.method, "filter, products, on the GPU");
    EXPECT_EQ(lists.report.uncertified, 0);
    EXPECT_EQ(alone_on_gpu(index), from_gpu);
    if (!from_gpu) {
      EXPECT_GE(bytes.to_gpu(), kTable);  // it counts
      continue;
    }
    EXPECT_LT(bytes.to_host(), kTable / 10);
    EXPECT_EQ(bytes.to_gpu(), 0);
    const CountedBytes after;
    device_array_cases::Case job;
    job.query = query;
    job.search = search_for;
    device_array_cases::expect_the_processors(index, job, lists);  // the CPU wants the rows
    EXPECT_EQ(after.to_host(), kTable);
    EXPECT_FALSE(alone_on_gpu(index));
    EXPECT_NE(index.rows(), nullptr);
    search(index, query, search_for, run_);
    EXPECT_EQ(after.to_host(), kTable + query.n_rows * 4);
    EXPECT_EQ(after.to_gpu(), 0);  // the filter goes on with the rows that it has
  }
}

TEST_F(FakeFitFromGpu, PredictionsComeWithoutTheTableOnTheHost) {
  device_prediction_cases::Case job;
  job.train = numbers(20000, 3);
  job.query = numbers(64, 3, ElementType::float64);
  job.n_classes = 3;
  Random random(2);
  const Column label = vote_cases::labels(random, job.train.n_rows, 3, false);
  const CountedBytes bytes;
  const KnnIndex index = fit(job.train);
  job.classifier = KnnClassifier::fit(index, label);
  const std::vector<char> memory = job.query.bytes();
  device_prediction_cases::Predictions ours = job.blank();
  ours.report = job.predict(job.query.array(memory.data(), kGpu),
                            PredictionArrays{ours.codes.data(), ours.values.data(), kGpu}, run_);
  EXPECT_TRUE(device_prediction_cases::stayed(ours.report)) << ours.report.method;
  EXPECT_LT(bytes.to_host(), 50000);
  EXPECT_TRUE(alone_on_gpu(index));
  device_prediction_cases::expect_the_processors(job, ours);
}

// The reference on the GPU answers them from the rows that are there.
TEST_F(FakeFitFromGpu, QueriesWithoutACertificateAndRadiusSearchesLeaveTheTableThere) {
  const Rows train = numbers(3000, 3);
  device_array_cases::Case job;
  job.query = numbers(60, 3);
  for (std::size_t i = 0; i < 30; i += 3) job.query.values[i] = 0.65625;  // the fake filter has no bound for such
  job.search = {.n_neighbors = 4};
  const KnnIndex index = fit(train), theirs = KnnIndex::fit(train.table());
  const CountedBytes bytes;
  const Lists ours = search(index, job.query, job.search, run_);
  EXPECT_EQ(ours.report.uncertified, 10);
  const std::vector<char> memory = job.query.bytes();
  run_.device = "cuda:1";
  const Neighbors near = index.radius_neighbors(job.query.array(memory.data(), kGpu), 0.2, {}, run_);
  EXPECT_TRUE(alone_on_gpu(index));
  EXPECT_LT(bytes.to_gpu(), 10000);  // query rows
  device_array_cases::expect_the_processors(theirs, job, ours);
  unsetenv("STOPE_BACKEND");
  const Neighbors expected = theirs.radius_neighbors(job.query.table(), 0.2, {}, {.device = "cpu"});
  EXPECT_EQ(near.offsets, expected.offsets);
  EXPECT_EQ(near.indices, expected.indices);
  vote_cases::expect_bits(near.distances, expected.distances);
}

// Where something would want the rows on the host at once, they go there at once.
TEST_F(FakeFitFromGpu, OtherRowsGoToTheHostAtOnce) {
  const Rows floats = numbers(500, 3);
  EXPECT_TRUE(alone_on_gpu(fit(floats)));
  EXPECT_TRUE(alone_on_gpu(fit(floats, {.metric = {"manhattan"}})));
  EXPECT_FALSE(alone_on_gpu(fit(floats, {}, {.device = "cpu"})));
  EXPECT_FALSE(alone_on_gpu(fit(floats, {.feature_weights = {1.0, 0.0, 1.0}})));
  EXPECT_FALSE(alone_on_gpu(fit(floats, {.metric = {"mahalanobis"}})));
  EXPECT_FALSE(alone_on_gpu(fit(numbers(500, 3, ElementType::boolean))));
  std::vector<double> columns(1500, 0.5);
  const ArrayView by_columns{columns.data(), ElementType::float64, 500, 3, 1, 500, kGpu};
  EXPECT_FALSE(alone_on_gpu(KnnIndex::fit(by_columns)));
  setenv("STOPE_DEVICE_ROWS", "90", 1);
  EXPECT_FALSE(alone_on_gpu(fit(floats)));
  unsetenv("STOPE_DEVICE_ROWS");
  EXPECT_FALSE(alone_on_gpu(fit(floats, {}, {.memory_limit = 1500 * 8 + 1000})));
}

TEST_F(FakeFitFromGpu, ReleasedDevicesHaveLeftTheRowsOnTheHost) {
  const Rows train = numbers(400, 3);
  device_array_cases::Case job;
  job.query = numbers(50, 3);
  job.search = {.n_neighbors = 3};
  const KnnIndex index = fit(train);
  search(index, job.query, job.search, run_);
  EXPECT_TRUE(alone_on_gpu(index));
  index.release_devices();
  EXPECT_FALSE(alone_on_gpu(index));
  const Lists ours = search(index, job.query, job.search, run_);
  device_array_cases::expect_the_processors(KnnIndex::fit(train.table()), job, ours);
}

TEST_F(FakeFitFromGpu, TheTrainingTableComesBackValueForValue) {
  const Rows train = numbers(300, 4);
  const KnnIndex index = fit(train);
  const Table table = index.train();
  ASSERT_EQ(table.n_rows, 300);
  for (std::size_t c = 0; c < 4; ++c) {
    const auto& column = std::get<Buffer<double>>(table.columns[c].data);
    for (std::int64_t i = 0; i < 300; ++i) {
      ASSERT_EQ(column[i], train.values[static_cast<std::size_t>(i * 4) + c]);
    }
  }
}

// Some threads want the rows on the host while others search on the GPU.
TEST_F(FakeFitFromGpu, SeveralThreadsSearchAtOnce) {
  const Rows train = numbers(300, 3);
  device_array_cases::Case job;
  job.query = numbers(60, 3);
  job.search = {.n_neighbors = 5};
  setenv("STOPE_TILE_QUERIES", "9", 1);
  const KnnIndex index = fit(train), theirs = KnnIndex::fit(train.table());
  std::vector<Lists> ours(6, Lists(0));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < ours.size(); ++i) {
      threads.emplace_back([&, i] {
        if (i % 3 == 0) {
          EXPECT_NE(index.rows(), nullptr);
        }
        ours[i] = search(index, job.query, job.search, run_, i % 2 == 0 ? kGpu : -1);
      });
    }
  }
  for (const Lists& mine : ours) ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, mine));
}

TEST_F(FakeFitFromGpu, ALostGpuIsReportedWhereverItHappens) {
  const Rows train = numbers(200, 3);
  device_array_cases::Case job;
  job.query = numbers(60, 3);
  job.search = {.n_neighbors = 4};
  const KnnIndex theirs = KnnIndex::fit(train.table());
  int lost = 0;
  for (std::int64_t n = 1;; ++n) {
    ASSERT_LT(n, 1000);
    fault::arm_device(n);
    try {
      const KnnIndex index = fit(train);
      const Lists ours = search(index, job.query, job.search, run_);
      index.release_devices();
      fault::arm_device(0);
      ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, ours));
      break;
    } catch (const Error& error) {
      fault::arm_device(0);
      ASSERT_EQ(error.code(), ErrorCode::device_lost) << error.what();
      ++lost;
    }
  }
  EXPECT_GE(lost, 5);  // rows, extremes, a sample, a batch, the rows again
}

TEST_F(FakeFitFromGpu, NoRoomOnTheGpuSendsTheRowsToTheHost) {
  const Rows train = numbers(200, 3);
  device_array_cases::Case job;
  job.query = numbers(60, 3);
  job.search = {.n_neighbors = 4};
  const KnnIndex theirs = KnnIndex::fit(train.table());
  int recovered = 0;
  for (std::int64_t n = 1; n < 30; ++n) {
    fault::arm_alloc(n);
    try {
      const KnnIndex index = fit(train);
      const Lists ours = search(index, job.query, job.search, run_);
      fault::arm_alloc(0);
      ASSERT_NO_FATAL_FAILURE(device_array_cases::expect_the_processors(theirs, job, ours));
      ++recovered;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    fault::arm_alloc(0);
  }
  EXPECT_GT(recovered, 10);
  fault::arm_alloc(1);
  EXPECT_FALSE(alone_on_gpu(fit(train)));
  fault::arm_alloc(0);
}

TEST_F(FakeFitFromGpu, AForkedProcessIsToldThatItCannotReachThem) {
  if (const std::string why = why_no_fork(); !why.empty()) GTEST_SKIP() << why;
  const KnnIndex index = fit(numbers(200, 3));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool told = false;
    try {
      (void)index.rows();
    } catch (const Error& error) {
      told = error.code() == ErrorCode::device_unavailable;
    } catch (...) {
    }
    _exit(told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_NE(index.rows(), nullptr);
}

TEST_F(FakeFitFromGpu, BadRowsAreRefusedAsBefore) {
  const std::vector<double> values(60, 0.5);
  const auto refused = [&](const ArrayView& array, const KnnOptions& options, const std::string& words) {
    try {
      KnnIndex::fit(array, options);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  const ArrayView good{values.data(), ElementType::float64, 20, 3, 0, 1, kGpu};
  ArrayView bad = good;
  bad.n_rows = 0;
  refused(bad, {}, "no rows");
  bad = good;
  bad.gpu = 7;
  refused(bad, {}, "this machine has 2 GPUs");
  bad = good;
  bad.data = nullptr;
  refused(bad, {}, "no data");
  refused(good, {.metric = {"no such"}}, "no such");
  refused(good, {.feature_weights = {1.0}}, "1 feature weight for 3 features");
  refused(good, {.feature_weights = {1.0, -1.0, 1.0}}, "weights are finite and >= 0");
  refused(good, {.metric = {"jaccard-nominal"}}, "");
  setenv("STOPE_FAKE_OWNER", "0", 1);
  refused(good, {}, "that of GPU 0");
}

}  // namespace
}  // namespace stope
