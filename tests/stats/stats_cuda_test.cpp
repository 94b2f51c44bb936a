// Statistics on the GPUs of this machine; skipped where there is none.
#include <gtest/gtest.h>

#include "device/gpu_memory.hpp"
#include "device/needs_gpu.hpp"
#include "stats/gpu_cases.hpp"

namespace stope {
namespace {

using namespace stats_cases;

class OnGpu : public NeedsGpu {
 protected:
  const std::vector<std::string> devices_ = {"cuda", "cuda:0,0"};
  const std::vector<std::int64_t> sizes_ = {0, 1, 31, 33, 255, 8191, 8193, 65536, 65537, 300001};
};

TEST_F(OnGpu, Float32HasTheProcessorsBits) {
  expect_the_processors_bits<float>(devices_, sizes_);
}
TEST_F(OnGpu, Float64HasTheProcessorsBits) {
  expect_the_processors_bits<double>(devices_, sizes_);
}
TEST_F(OnGpu, Int32HasTheProcessorsBits) {
  expect_the_processors_bits<std::int32_t>(devices_, sizes_);
}
TEST_F(OnGpu, Int64HasTheProcessorsBits) {
  expect_the_processors_bits<std::int64_t>(devices_, sizes_);
}

// Makes few values, for a sanitizer.
template <class T>
void expect_every_kernel() {
  RunOptions run;
  run.device = "cuda";
  const EveryRow every;
  const auto values = column_of<T>("uniform", 70000, 5);
  for (const auto depth : {StatsOptions::Depth::all, StatsOptions::Depth::extremes}) {
    expect_same({values.data(), element_type<T>(), 70000}, run, depth);
    expect_same({values.data(), element_type<T>(), 1000, 8, 8, 1}, run, depth);
    expect_same({values.data(), element_type<T>(), 1000, 7, 7, 1}, run, depth);
    expect_same({values.data(), element_type<T>(), 300, 201, 201, 1}, run, depth);
    setenv("STOPE_CUDA_SHARED_MEMORY", "65536", 1);  // the watched plug-in claims Turing's shared memory
    expect_same({values.data(), element_type<T>(), 70000}, run, depth);
    unsetenv("STOPE_CUDA_SHARED_MEMORY");
  }
}

TEST_F(OnGpu, EveryKernelOfFloat32) {
  expect_every_kernel<float>();
}
TEST_F(OnGpu, EveryKernelOfFloat64) {
  expect_every_kernel<double>();
}
TEST_F(OnGpu, EveryKernelOfInt32) {
  expect_every_kernel<std::int32_t>();
}
TEST_F(OnGpu, EveryKernelOfInt64) {
  expect_every_kernel<std::int64_t>();
}

// Values in the GPU's memory are read where they are, whatever the strides.
template <class T>
void expect_the_same_there() {
  const gpu_memory::Driver driver(0);
  const gpu_memory::Stream stream(driver);
  RunOptions cpu;
  cpu.device = "cpu";
  for (const std::string& kind : kinds()) {
    const auto values = column_of<T>(kind, 50000, 9);
    const gpu_memory::Array there(driver, values);
    for (const ArrayView& shape :
         {ArrayView{nullptr, element_type<T>(), 49999}, ArrayView{nullptr, element_type<T>(), 12499, 4},
          ArrayView{nullptr, element_type<T>(), 700, 7, 11, 1},
          ArrayView{nullptr, element_type<T>(), 9999, 5, 1, 10000},
          ArrayView{nullptr, element_type<T>(), 900, 3, 12, 2}, ArrayView{nullptr, element_type<T>(), 0, 3}}) {
      SCOPED_TRACE(kind + ", " + std::to_string(shape.n_rows) + " x " + std::to_string(shape.n_columns));
      for (const auto& [depth, offset] : {std::pair{StatsOptions::Depth::all, 0},
                                          {StatsOptions::Depth::extremes, 0},
                                          {StatsOptions::Depth::all, 1}}) {  // one value in front: unaligned
        ArrayView here = shape;
        here.data = values.data() + offset;
        ArrayView array = shape;
        array.gpu = 0;
        array.stream = stream.get();
        array.data = there.as<T>() + offset;
        StatsOptions options;
        options.depth = depth;
        const Statistics want = describe(here, options, cpu), got = describe(array, options);
        EXPECT_EQ(got.report.backend, "cuda");
        if (shape.n_rows > 0) {
          EXPECT_GT(got.report.gpu_seconds, 0.0);
        }
        ASSERT_EQ(got.columns.size(), want.columns.size());
        for (std::size_t c = 0; c < want.columns.size(); ++c) {
          ASSERT_EQ(bits_of(got.columns[c]), bits_of(want.columns[c])) << "column " << c;
        }
      }
    }
  }
}

TEST_F(OnGpu, Float32InItsMemory) {
  expect_the_same_there<float>();
}
TEST_F(OnGpu, Float64InItsMemory) {
  expect_the_same_there<double>();
}
TEST_F(OnGpu, Int64InItsMemory) {
  expect_the_same_there<std::int64_t>();
}

// Long columns need several levels of joins. Wide rows have leaves that blocks share, tiles along a row, and odd
// widths.
TEST_F(OnGpu, LongAndWideOnes) {
  RunOptions run;
  run.device = "cuda";
  const EveryRow every;
  const auto values = column_of<float>("5 % missing", 20000003, 2);
  expect_same({values.data(), ElementType::float32, 20000003}, run, StatsOptions::Depth::all);
  for (const std::int64_t columns :
       {std::int64_t{128}, std::int64_t{200}, std::int64_t{1000}, std::int64_t{1028}, std::int64_t{2051}}) {
    const std::int64_t rows = 20000000 / columns;
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    expect_same({values.data(), ElementType::float32, rows, columns, columns, 1}, run, StatsOptions::Depth::all);
    expect_same({values.data(), ElementType::float32, rows, columns, columns, 1}, run, StatsOptions::Depth::extremes);
  }
}

}  // namespace
}  // namespace stope
