// The core's half of statistics on GPUs, with the fake plug-in (tests/device/fake_plugin.cpp).
#include <gtest/gtest.h>

#include "base/fault.hpp"
#include "device/with_fake_plugin.hpp"
#include "expect_error.hpp"
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
    return describe(ArrayView{values.data(), ElementType::float32, rows, columns, 1, rows}, few, run).report.backend;
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
    const StatsReport report = describe(ArrayView{values.data(), ElementType::float64, n}, {}, run).report;
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
    return describe(ArrayView{much.data(), ElementType::float32, rows, columns, 1, rows}, few, run).report;
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
      describe(ArrayView{values.data(), ElementType::float64, 40000}, {}, run);
      FAIL() << "call " << n << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::device_lost);
    }
    fault::arm_device(0);
  }
}

// The array as if its memory were the fake GPU's.
ArrayView on_gpu(const ArrayView& array, int gpu = 1) {
  ArrayView there = array;
  there.gpu = gpu;
  return there;
}

TEST_F(FakeStatistics, ArraysInAGpusMemory) {
  const auto values = column_of<double>("huge", 30000, 1);
  const ArrayView array = {values.data(), ElementType::float64, 10000, 3};
  StatsOptions options;
  options.histogram_bins = 5;
  options.distinct = StatsOptions::Distinct::count;
  const Statistics want = describe(array, options), got = describe(on_gpu(array), options);
  EXPECT_EQ(got.report.backend, "cuda");
  EXPECT_EQ(got.report.device_reason, "auto: the values are in its memory");
  RunOptions cpu;
  cpu.device = "cpu";
  const Statistics copied = describe(on_gpu(array), options, cpu);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(bits_of(got.columns[c]), bits_of(want.columns[c]));
    EXPECT_EQ(bits_of(copied.columns[c]), bits_of(want.columns[c]));
    EXPECT_EQ(got.columns[c].distinct, want.columns[c].distinct);
    EXPECT_EQ(got.columns[c].histogram->counts, want.columns[c].histogram->counts);
  }
  const ArrayView spread = {values.data(), ElementType::float64, 5000, 2, 3, 2};
  EXPECT_EQ(bits_of(describe(on_gpu(spread)).columns[1]), bits_of(describe(spread).columns[1]));
  expect_error(ErrorCode::device_unavailable, "GPU 0 has its memory, but cannot be used",
               [&] { describe(on_gpu(array, 0)); });
  expect_error(ErrorCode::invalid_argument, "GPU 7 is not there", [&] { describe(on_gpu(array, 7)); });
  RunOptions other;
  other.device = "cuda:0";
  expect_error(ErrorCode::device_unavailable, "GPU 0, Old Card", [&] { describe(on_gpu(array), {}, other); });
}

// Types that GPUs do not read, and negative strides, are copied to the host: the report says so.
TEST_F(FakeStatistics, ArraysThatAGpuDoesNotReadAreCopied) {
  const auto values = column_of<std::int64_t>("uniform", 2000, 6);
  const auto* const data = reinterpret_cast<const char*>(values.data());
  struct Layout {
    std::int64_t row_stride, column_stride, offset;
  };
  // Rows and columns without and with gaps, values far apart, and backwards.
  for (const Layout& l :
       {Layout{3, 1, 0}, {7, 1, 5}, {1, 60, 0}, {1, 71, 2}, {12, 2, 1}, {-3, 1, 180}, {-4, -1, 300}}) {
    for (const ElementType type : {ElementType::int8, ElementType::int16, ElementType::uint8, ElementType::uint16,
                                   ElementType::uint32, ElementType::boolean, ElementType::int32, ElementType::int64}) {
      const ArrayView here{data + l.offset * size_of(type), type, 60, 3, l.row_stride, l.column_stride};
      const bool in_place = size_of(type) >= 4 && type != ElementType::uint32 && l.row_stride > 0;
      for (const std::string device : {"auto", "cpu", "cuda:1"}) {
        SCOPED_TRACE(std::string(to_string(type)) + ", strides " + std::to_string(l.row_stride) + " and " +
                     std::to_string(l.column_stride) + ", " + device);
        RunOptions run;
        run.device = device;
        const Statistics got = describe(on_gpu(here), {}, run), want = describe(here);
        EXPECT_EQ(got.report.backend == "cuda", in_place && device != "cpu");
        if (!in_place || device == "cpu") {
          EXPECT_NE(got.report.reason.find("copied from GPU 1"), std::string::npos) << got.report.reason;
        }
        for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(bits_of(got.columns[c]), bits_of(want.columns[c]));
      }
    }
  }
  RunOptions little;
  little.memory_limit = 100;
  expect_error(ErrorCode::out_of_memory, "a copy of the array in the host's memory needs 180 bytes",
               [&] { describe(on_gpu({data, ElementType::int8, 60, 3}), {}, little); });
}

TEST_F(FakeStatistics, ArraysInTheHostsMemoryThatAGpuDoesNotReadAreTheCpus) {
  const EveryRow every;
  const auto values = column_of<std::int16_t>("uniform", 30000, 6);
  RunOptions cuda;
  cuda.device = "cuda:1";
  for (const ArrayView& array :
       {ArrayView{values.data(), ElementType::int16, 30000}, ArrayView{values.data(), ElementType::int16, 10000, 3},
        ArrayView{values.data() + 29999, ElementType::int16, 30000, 1, -1}}) {
    const Statistics got = describe(array, {}, cuda), want = describe(array);
    EXPECT_NE(got.report.backend, "cuda");
    EXPECT_NE(got.report.reason.find("of a type that it does not read"), std::string::npos) << got.report.reason;
    for (std::size_t c = 0; c < want.columns.size(); ++c) EXPECT_EQ(bits_of(got.columns[c]), bits_of(want.columns[c]));
  }
}

}  // namespace
}  // namespace stope
