// Compares predictions in GPU memory that another user of CUDA has made (gpu_memory.hpp), of rows in that memory, with
// those of host rows on the CPU, bit for bit. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "device/gpu_memory.hpp"
#include "device/needs_gpu.hpp"
#include "effort.hpp"
#include "knn/gpu/caller_predictions_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using device_prediction_cases::Predictions;
using device_prediction_cases::random_case;
using device_prediction_cases::stayed;
using gpu_memory::Array;
using gpu_memory::Driver;
using gpu_memory::Stream;

constexpr int kGpu = 0;

class DevicePredictionsCuda : public NeedsGpu {
 protected:
  void SetUp() override {
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    setenv("STOPE_BACKEND", "cuda", 1);  // however small the job
    driver_ = std::make_unique<Driver>(kGpu);
  }
  ~DevicePredictionsCuda() override {
    for (const char* name : {"STOPE_BACKEND", "STOPE_TILE_QUERIES", "STOPE_DEVICE_ROWS"}) unsetenv(name);
  }
  /// `place`: where the rows lie, if they are there already or on their way.
  Predictions predict(const device_prediction_cases::Case& job, void* stream = nullptr,
                      const Array* place = nullptr) const {
    std::unique_ptr<Array> own;
    if (place == nullptr) own = std::make_unique<Array>(*driver_, job.query.bytes());
    const Array& rows = place == nullptr ? *own : *place;
    Predictions ours = job.blank();
    const Array codes(*driver_, ours.codes), values(*driver_, ours.values);
    const PredictionArrays out{codes.as<std::int32_t>(), job.wants_values() ? values.as<double>() : nullptr, kGpu,
                               stream};
    ours.report = job.predict(job.query.array(rows.as<char>(), kGpu, stream), out, {});
    ours.codes = codes.values<std::int32_t>();
    ours.values = values.values<double>();
    return ours;
  }
  device_prediction_cases::Case usual_case(int n_classes) const {
    for (std::uint64_t seed = 1; seed < 200; ++seed) {
      Random random(seed);
      device_prediction_cases::Case job = random_case(random, 3000, 500, 8, 20, n_classes);
      if (job.train.n_rows > 1000 && stayed(predict(job).report) && !job.vote.exclude_self) return job;
    }
    throw std::runtime_error("no predictions stay on the GPU");
  }
  std::unique_ptr<Driver> driver_;
};

TEST_F(DevicePredictionsCuda, PredictionsAreThoseOfRowsOnTheHost) {
  Random random(61);
  int in_place = 0, by_host = 0;
  const std::vector<int> classes = {0, 0, 1, 2, 10, 48, 49, 127, 128};
  const int n_rounds = 24 * rounds();
  for (int round = 0; round < n_rounds; ++round) {
    SCOPED_TRACE(round);
    const auto n_columns = 1 + static_cast<std::int64_t>(random.below(40));
    const device_prediction_cases::Case job =
        random_case(random, round % 3 == 0 ? 6000 : 300, 600, n_columns, 128, classes[random.below(classes.size())]);
    if (random.below(3) == 0) setenv("STOPE_TILE_QUERIES", "100", 1);
    if (random.below(4) == 0) setenv("STOPE_DEVICE_ROWS", "900", 1);
    const Stream stream(*driver_);
    const Predictions ours = predict(job, random.below(2) == 0 ? stream.get() : nullptr);
    unsetenv("STOPE_TILE_QUERIES");
    unsetenv("STOPE_DEVICE_ROWS");
    ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, ours));
    (stayed(ours.report) ? in_place : by_host) += 1;
  }
  EXPECT_GT(in_place, n_rounds / 5);
  EXPECT_GT(by_host, n_rounds / 5);
}

// The caller's stream still has work queued when predict is called: rows are copied to their place only after a slow
// host function has returned.
TEST_F(DevicePredictionsCuda, RowsMayStillBeOnTheirWay) {
  for (const int n_classes : {0, 5}) {
    const device_prediction_cases::Case job = usual_case(n_classes);
    const Stream stream(*driver_);
    const Array values(*driver_, job.query.bytes()), place(*driver_, std::vector<char>(job.query.bytes().size(), 0));
    std::atomic<bool> slept = false;
    stream.run(
        [](void* flag) {
          std::this_thread::sleep_for(std::chrono::milliseconds(60));
          *static_cast<std::atomic<bool>*>(flag) = true;
        },
        &slept);
    stream.copy(place, values, job.query.bytes().size());
    const Predictions ours = predict(job, stream.get(), &place);
    EXPECT_TRUE(slept);
    EXPECT_TRUE(stayed(ours.report)) << ours.report.method;
    device_prediction_cases::expect_the_processors(job, ours);
  }
}

TEST_F(DevicePredictionsCuda, SeveralThreadsPredictAtOnce) {
  const device_prediction_cases::Case job = usual_case(7);
  std::vector<Predictions> ours(4);
  {
    std::vector<std::jthread> threads;
    for (Predictions& mine : ours) {
      threads.emplace_back([&] {
        const Driver driver(kGpu);  // current for this thread
        const Stream stream(driver);
        mine = predict(job, stream.get());
      });
    }
  }
  for (const Predictions& mine : ours) {
    ASSERT_NO_FATAL_FAILURE(device_prediction_cases::expect_the_processors(job, mine));
  }
}

TEST_F(DevicePredictionsCuda, MemoryOfTheHostIsRefused) {
  const device_prediction_cases::Case job = usual_case(2);
  const Array rows(*driver_, job.query.bytes());
  Predictions host = job.blank();
  host.values.resize(host.codes.size() * 2);
  const Array codes(*driver_, host.codes), values(*driver_, host.values);
  const auto refused = [&](std::int32_t* to_codes, double* to_values) {
    try {
      VoteOptions vote = job.vote;
      vote.confidences = Confidences::all;
      job.classifier.predict(job.query.array(rows.as<char>(), kGpu), vote, {},
                             PredictionArrays{to_codes, to_values, kGpu});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused(codes.as<std::int32_t>(), values.as<double>()));
  EXPECT_TRUE(refused(host.codes.data(), values.as<double>()));
  EXPECT_TRUE(refused(codes.as<std::int32_t>(), host.values.data()));
}

}  // namespace
}  // namespace stope
