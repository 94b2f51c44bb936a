// Predictions of rows in a GPU's memory that go to memory of that GPU, with the fake plug-in (device/fake_plugin.cpp),
// whose GPU memory is host memory. No GPU is needed; caller_predictions_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/fault.hpp"
#include "device/fake_counts.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "environment.hpp"
#include "knn/gpu/caller_predictions_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using device_prediction_cases::Predictions;
using device_prediction_cases::random_case;
using device_prediction_cases::stayed;

constexpr int kGpu = 1;  // the one that can be used

class FakeCallerPredictions : public testing::Test, protected WithFakePlugin {
 protected:
  FakeCallerPredictions() : WithFakePlugin("filters", "cuda") {}

  static Predictions predict(const device_prediction_cases::Case& job, const RunOptions& run, int rows_on = kGpu,
                             int predictions_on = kGpu) {
    const std::vector<char> memory = job.query.bytes();  // host memory stands in for GPU memory
    Predictions ours = job.blank();
    const PredictionArrays out{ours.codes.data(), ours.values.empty() ? nullptr : ours.values.data(), predictions_on};
    ours.report = job.predict(job.query.array(memory.data(), rows_on), out, run);
    return ours;
  }
  // A case that the fake filter answers in place.
  static device_prediction_cases::Case usual_case(int n_classes, std::uint64_t seed = 1) {
    for (const std::uint64_t last = seed + 200; seed < last; ++seed) {
      Random random(seed);
      device_prediction_cases::Case job = random_case(random, 300, 120, 3, 10, n_classes);
      if (job.train.n_rows > 50 && stayed(predict(job, {}).report) && !job.vote.exclude_self) return job;
    }
    throw std::runtime_error("no predictions stay on the GPU");
  }
  RunOptions run_ = {.threads = 2};
};

TEST_F(FakeCallerPredictions, PredictionsAreThoseOfRowsOnTheHost) {
  Random random(51);
  int in_place = 0, by_host = 0;
  std::int64_t uncertified = 0;
  const std::vector<int> classes = {0, 0, 1, 2, 3, 40, 127, 128, 200};
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const device_prediction_cases::Case job =
        random_case(random, 300, 150, 3, 30, classes[random.below(classes.size())]);
    set_size("STOPE_TILE_QUERIES", 1 + random.below(80));
    if (random.below(4) == 0) setenv("STOPE_DEVICE_ROWS", "90", 1);
    if (random.below(4) == 0) setenv("STOPE_FAKE", "differences", 1);
    run_.device = std::vector<std::string>{"auto", "cuda", "cuda:1", "cuda:1,1", "cpu"}[random.below(5)];
    if (run_.device == "cpu") unsetenv("STOPE_BACKEND");
    const Predictions ours = predict(job, run_);
    unsetenv("STOPE_DEVICE_ROWS");
    setenv("STOPE_FAKE", "filters", 1);
    setenv("STOPE_BACKEND", "cuda", 1);
    ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, ours));
    (stayed(ours.report) ? in_place : by_host) += 1;
    if (stayed(ours.report)) uncertified += ours.report.uncertified;
    EXPECT_FALSE(stayed(ours.report) && (run_.device == "cpu" || !job.query.floating() || job.n_classes > 127));
  }
  EXPECT_GT(in_place, 20);
  EXPECT_GT(by_host, 60);
  EXPECT_GT(uncertified, 100);
}

// Rows and predictions may lie on either side. Only where both are on the GPU do they stay there.
TEST_F(FakeCallerPredictions, RowsAndPredictionsLieOnEitherSide) {
  Random random(52);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const device_prediction_cases::Case job = random_case(random, 300, 100, 3, 20, round % 4);
    const int rows_on = round % 3 == 0 ? kGpu : -1, predictions_on = round % 3 == 1 ? kGpu : -1;
    const Predictions ours = predict(job, run_, rows_on, predictions_on);
    ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, ours));
    EXPECT_FALSE(stayed(ours.report));
  }
}

// Four bytes per query come back, whatever a row, a list and a prediction take.
TEST_F(FakeCallerPredictions, NeitherRowsNorListsNorPredictionsCrossTheBus) {
  for (const int n_classes : {0, 5}) {
    for (const bool values : {true, false}) {
      device_prediction_cases::Case job = usual_case(n_classes);
      if (n_classes > 0) job.vote.confidences = values ? Confidences::all : Confidences::none;
      for (std::size_t i = 0; i < job.query.values.size(); ++i) job.query.values[i] = 0.25;  // it has a bound for these
      predict(job, run_);                                                                    // the table is on the GPU
      const CountedBytes bytes;
      const Predictions ours = predict(job, run_);
      EXPECT_TRUE(stayed(ours.report)) << ours.report.method;
      EXPECT_EQ(ours.report.uncertified, 0);
      EXPECT_EQ(bytes.to_host(), job.query.n_rows * 4);
      EXPECT_EQ(bytes.to_gpu(), 0);
      device_prediction_cases::expect_the_processors(job, ours);
    }
  }
}

TEST_F(FakeCallerPredictions, NoRoomForVotesLeavesThemToTheHost) {
  for (const int n_classes : {0, 4}) {
    const device_prediction_cases::Case job = usual_case(n_classes);
    setenv("STOPE_TILE_QUERIES", "25", 1);
    int recovered = 0;
    for (std::int64_t n = 1; n < 40; ++n) {
      if (!chosen(40 - n)) continue;
      job.n_classes > 0 ? job.classifier.index().release_devices() : job.regressor.index().release_devices();
      fault::arm_alloc(n);
      try {
        const Predictions ours = predict(job, run_);
        fault::arm_alloc(0);
        ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, ours));
        ++recovered;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      }
      fault::arm_alloc(0);
    }
    EXPECT_GT(recovered, effort() < 100 ? 0 : 10);
  }
}

TEST_F(FakeCallerPredictions, ALostGpuIsReportedWhereverItHappens) {
  const device_prediction_cases::Case job = usual_case(3);
  setenv("STOPE_TILE_QUERIES", "20", 1);
  int lost = 0;
  for (std::int64_t n = 1;; ++n) {
    ASSERT_LT(n, 1000);
    job.classifier.index().release_devices();
    fault::arm_device(n);
    try {
      const Predictions ours = predict(job, run_);
      fault::arm_device(0);
      ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, ours));
      break;
    } catch (const Error& error) {
      fault::arm_device(0);
      ASSERT_EQ(error.code(), ErrorCode::device_lost) << error.what();
      ++lost;
    }
  }
  EXPECT_GT(lost, 5);
}

TEST_F(FakeCallerPredictions, SeveralThreadsPredictAtOnce) {
  const device_prediction_cases::Case job = usual_case(6);
  setenv("STOPE_TILE_QUERIES", "9", 1);
  std::vector<Predictions> ours(5);
  {
    std::vector<std::jthread> threads;
    for (Predictions& mine : ours) threads.emplace_back([&] { mine = predict(job, run_); });
  }
  for (const Predictions& mine : ours) {
    ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, mine));
  }
}

TEST_F(FakeCallerPredictions, MemoryThatIsNotWhatItIsSaidToBeIsRefused) {
  const std::vector<double> values(60, 0.5);
  const device_array_cases::Rows rows{.n_rows = 20, .n_columns = 3, .stride = 3, .values = values};
  const KnnIndex index = KnnIndex::fit(rows.table());
  const KnnClassifier classes =
      KnnClassifier::fit(index, make_nominal("y", std::vector<std::int32_t>(20, 0), {"a", "b"}));
  const KnnRegressor means = KnnRegressor::fit(index, make_numeric("y", std::vector<double>(20, 1.0)));
  std::vector<std::int32_t> codes(20);
  std::vector<double> numbers(40);
  const auto refused = [&](const PredictionArrays& out, const VoteOptions& vote, const std::string& words, bool mean) {
    const ArrayView array = rows.array(values.data(), kGpu);
    try {
      mean ? means.predict(array, vote, {}, out) : classes.predict(array, vote, {}, out);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  for (const int gpu : {kGpu, -1}) {
    refused({nullptr, numbers.data(), gpu}, {}, "the predictions' codes is null", false);
    refused({codes.data(), nullptr, gpu}, {}, "the predictions' values is null", false);
    refused({codes.data(), nullptr, gpu}, {}, "the predictions' values is null", true);
    classes.predict(rows.array(values.data(), kGpu), {.confidences = Confidences::none}, {},
                    PredictionArrays{codes.data(), nullptr, gpu});
    means.predict(rows.array(values.data(), kGpu), {}, {}, PredictionArrays{nullptr, numbers.data(), gpu});
  }
  refused({codes.data(), numbers.data(), 7}, {}, "this machine has 2 GPUs", false);
  setenv("STOPE_FAKE_OWNER", "0", 1);
  refused({codes.data(), numbers.data(), kGpu}, {}, "that of GPU 0", false);
  unsetenv("STOPE_FAKE_OWNER");
  refused({codes.data(), numbers.data(), kGpu}, {.n_neighbors = 0}, "k must be at least 1", false);
}

}  // namespace
}  // namespace stope
