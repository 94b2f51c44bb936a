// The core's half of statistics on GPUs, with the fake plug-in (tests/device/fake_plugin.cpp).
#include <gtest/gtest.h>

#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "stats/gpu_cases.hpp"

namespace stope {
namespace {

using namespace stats_cases;

class FakeStatistics : public testing::Test, protected WithFakePlugin {
 protected:
  const std::vector<std::string> devices_ = {"cuda", "cuda:1,1,1"};
  const std::vector<std::int64_t> sizes_ = {0, 1, 33, 8193, 30001};
};

TEST_F(FakeStatistics, PiecesOfAllKindsGiveTheProcessorsBits) {
  expect_the_processors_bits<float>(devices_, sizes_);
  expect_the_processors_bits<double>({"cuda"}, {1, 30001});
  expect_the_processors_bits<std::int32_t>({"cuda"}, {8193});
  expect_the_processors_bits<std::int64_t>({"cuda"}, {8193});
}

TEST_F(FakeStatistics, ShortColumnsAndLittleDataStayOnTheProcessor) {
  RunOptions run;
  run.device = "cuda";
  const StatsOptions few{.depth = StatsOptions::Depth::extremes};
  const auto backend = [&](const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
    return describe(Array{values.data(), ElementType::float32, rows, columns, 1, rows}, few, run).report.backend;
  };
  const std::vector<float> much(std::size_t{40'000'000}, 1.0F);
  EXPECT_NE(backend(much, 1000, 1), "cuda");
  EXPECT_NE(backend(much, 200'000, 1), "cuda") << "one thread has done them sooner";
  EXPECT_EQ(backend(much, 40'000'000, 1), "cuda");
  EXPECT_EQ(backend(much, 200'000, 200), "cuda") << "columns that are much together";
  EXPECT_NE(backend(much, 1000, 40'000), "cuda") << "each of them too short";
  setenv("STOPE_STATS_GPU_ROWS", "100000", 1);
  EXPECT_EQ(backend(much, 200'000, 1), "cuda");
  EXPECT_NE(backend(much, 50'000, 1), "cuda");
  unsetenv("STOPE_STATS_GPU_ROWS");
}

// A thread with vectors is done before the values could be copied, so auto does not even look for GPUs.
TEST_F(FakeStatistics, AutoLeavesValuesInTheHostsMemoryToTheProcessor) {
  const auto values = column_of<double>("uniform", 1'000'000, 1);
  RunOptions run;
  run.threads = 4;
  for (const std::int64_t n : {16, 1'000, 1'000'000}) {
    const StatsReport report = describe(Array{values.data(), ElementType::float64, n}, {}, run).report;
    EXPECT_NE(report.backend, "cuda") << n;
    EXPECT_TRUE(report.device_reason.starts_with(n < 1'000'000 ? "auto: under 1 ms on the CPU" : "auto: "))
        << report.device_reason;
  }
}

// One thread without vectors reads more slowly than the bus copies, once the driver has started.
TEST_F(FakeStatistics, AutoTakesAGpuThatPaysAndGivesUpOneThatFails) {
  const std::vector<float> much(std::size_t{90'000'000}, 1.0F);
  const StatsOptions few{.depth = StatsOptions::Depth::extremes};
  RunOptions run;
  run.threads = 1;
  const auto report_of = [&](std::int64_t rows, std::int64_t columns) {
    return describe(Array{much.data(), ElementType::float32, rows, columns, 1, rows}, few, run).report;
  };
  run.device = "cuda";
  EXPECT_EQ(report_of(40'000'000, 1).backend, "cuda");  // starts the driver
  run.device = "auto";
  const StatsReport taken = report_of(90'000'000, 1);
  EXPECT_EQ(taken.backend, "cuda");
  EXPECT_EQ(taken.reason, "New Card, sm_90");
  EXPECT_TRUE(taken.device_reason.starts_with("auto: about ")) << taken.device_reason;
  const StatsReport narrow = report_of(1'000, 90'000);
  EXPECT_NE(narrow.backend, "cuda");
  // Which reason it is depends on the CPU's vectors.
  EXPECT_TRUE(narrow.device_reason.starts_with("auto: ")) << narrow.device_reason;
  fault::arm_device(1);
  const StatsReport lost = report_of(90'000'000, 1);
  fault::arm_device(0);
  EXPECT_NE(lost.backend, "cuda");
  EXPECT_TRUE(lost.device_reason.starts_with("auto: the GPU was given up: ")) << lost.device_reason;
}

TEST_F(FakeStatistics, ALostGpuIsAnErrorWhereItWasNamed) {
  const EveryRow every;
  const auto values = column_of<double>("uniform", 40000, 1);
  RunOptions run;
  run.device = "cuda";
  run.memory_limit = 4 * 8192 * 8;
  for (int n = 1; n <= 10; ++n) {
    fault::arm_device(n);
    try {
      describe(Array{values.data(), ElementType::float64, 40000}, {}, run);
      FAIL() << "call " << n << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    fault::arm_device(0);
  }
}

TEST_F(FakeStatistics, ArraysInAGpusMemory) {
  const auto values = column_of<double>("huge", 30000, 1);
  const Array array = {values.data(), ElementType::float64, 10000, 3};
  StatsOptions options;
  options.histogram_bins = 5;
  options.distinct = StatsOptions::Distinct::count;
  const Statistics want = describe(array, options), got = describe(DeviceArray{array, 1, nullptr}, options);
  EXPECT_EQ(got.report.backend, "cuda");
  EXPECT_EQ(got.report.device_reason, "auto: the values are in its memory");
  RunOptions cpu;
  cpu.device = "cpu";
  const Statistics copied = describe(DeviceArray{array, 1, nullptr}, options, cpu);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(bits_of(got.columns[c]), bits_of(want.columns[c]));
    EXPECT_EQ(bits_of(copied.columns[c]), bits_of(want.columns[c]));
    EXPECT_EQ(got.columns[c].distinct, want.columns[c].distinct);
    EXPECT_EQ(got.columns[c].histogram->counts, want.columns[c].histogram->counts);
  }
  const Array spread = {values.data(), ElementType::float64, 5000, 2, 3, 2};
  EXPECT_EQ(bits_of(describe(DeviceArray{spread, 1, nullptr}).columns[1]), bits_of(describe(spread).columns[1]));
  EXPECT_THROW(describe(DeviceArray{array, 0, nullptr}), Error);
  EXPECT_THROW(describe(DeviceArray{array, 7, nullptr}), Error);
  RunOptions other;
  other.device = "cuda:0";
  EXPECT_THROW(describe(DeviceArray{array, 1, nullptr}, {}, other), Error);
}

}  // namespace
}  // namespace stope
