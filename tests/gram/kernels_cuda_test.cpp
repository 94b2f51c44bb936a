// Compares every instance of the gram operator's kernels with the CPU, bit for bit. compute-sanitizer runs this
// (scripts/gpu_check.sh, which asks the watched plug-in whether an instance was missed), so matrices are small and few.
// Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>

#include "device/needs_gpu.hpp"
#include "gram/gram_cases.hpp"

namespace stope::gram {
namespace {

// The parameters: the elements' type, whether columns are shifted, and whether the watched plug-in claims little shared
// memory. Kernels with a shorter ring are those of other GPUs.
class GramKernelsCuda : public NeedsGpuAs<testing::TestWithParam<std::tuple<bool, bool, bool>>> {
 protected:
  void SetUp() override {
    NeedsGpuAs::SetUp();
    if (!IsSkipped() && std::get<2>(GetParam())) setenv("STOPE_CUDA_SHARED_MEMORY", "65536", 1);
  }
  void TearDown() override { unsetenv("STOPE_CUDA_SHARED_MEMORY"); }
};

// Rows are narrow (four widths), groups fit a block of threads, a row fits a block (24 x 2000 floats with little
// memory), or a row takes several blocks. Some of these have two teams in a block of an H200: in 600 x 9001 of float32,
// and in 460 x 9001 of float64.
TEST_P(GramKernelsCuda, HaveTheProcessorsBits) {
  const auto& [is_float, is_shifted, has_little] = GetParam();
  std::uint64_t seed = 300;
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{1, 3},
                                      {300, 40},
                                      {200, 100},
                                      {6400, 200},
                                      {70, 400},
                                      {37, 700},
                                      {24, 2000},
                                      {19, has_little ? 2500 : 9001},
                                      {600, 9001},
                                      {460, 9001},
                                      {17, 5000}}) {
    GramCase c = make_case(rows, columns, is_float, ++seed, Values::wide_range, 3);
    if (is_shifted) c.shift = c.x;
    RunOptions run;
    run.device = "cpu";
    const Products wanted = multiply(c, run);
    run.device = "cuda:0";
    const auto by = make_operator(rows_of(c), options_of(c), run);
    EXPECT_EQ(by->report().backend, "cuda");
    for (int turn = 0; turn < 2; ++turn) {  // resident rows are replayed
      EXPECT_EQ(multiply(c, *by), wanted) << rows << " x " << columns << ", turn " << turn;
    }
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<bool, bool, bool>>& chosen) {
  const auto& [is_float, is_shifted, has_little] = chosen.param;
  return std::string(is_float ? "Floats" : "Doubles") + (is_shifted ? "Shifted" : "") +
         (has_little ? "WithLittleSharedMemory" : "");
}

INSTANTIATE_TEST_SUITE_P(, GramKernelsCuda, testing::Combine(testing::Bool(), testing::Bool(), testing::Bool()),
                         name_of);

}  // namespace
}  // namespace stope::gram
