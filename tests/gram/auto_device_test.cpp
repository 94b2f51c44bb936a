// What --device auto weighs for the gram operator. bench/prior_works.py --work 002 measures which device really is
// faster; gram_fake_test.cpp tests that auto moves to a GPU and falls back.
#include "gram/auto_device.hpp"

#include <gtest/gtest.h>

#include "device/auto_gpu.hpp"

namespace stope::gram {
namespace {

constexpr auto kAvx512 = device::Backend::avx512;

bool gpu_is_chosen(const OperatorSize& size, std::int64_t n_vectors, bool started, int threads = 16) {
  return device::gpu_pays({static_cast<double>(n_vectors) * cpu_seconds(size, kAvx512, threads, 1),
                           gpu_load_seconds(size) + gpu_seconds(size, n_vectors)},
                          started);
}

TEST(GramAutoDevice, OneProductIsNotWorthTheCopyAndManyAre) {
  for (const std::int64_t n : {1'000, 14'336, 100'000}) {
    OperatorSize size{.n_rows = n, .n_columns = n, .element_bytes = 4, .resident = true};
    EXPECT_FALSE(gpu_is_chosen(size, 1, true)) << n;
    EXPECT_EQ(gpu_is_chosen(size, 1'000, true), n > 1'000) << n;
    size.resident = false;
    EXPECT_FALSE(gpu_is_chosen(size, 1'000, true)) << n << ", copied with every product";
  }
  const OperatorSize small{.n_rows = 3'000, .n_columns = 3'000, .element_bytes = 4, .resident = true};
  EXPECT_FALSE(gpu_is_chosen(small, 300, false)) << "85 ms here, the driver takes 210";
  EXPECT_TRUE(gpu_is_chosen(small, 300, true)) << "85 ms here, 15 there, the copy included";
}

TEST(GramAutoDevice, MoreWorkNeverMovesAMatrixBackToTheCpu) {
  for (const std::int64_t n : {100, 3'000, 50'000}) {
    const OperatorSize size{.n_rows = n, .n_columns = 1'000, .element_bytes = 8, .resident = true};
    bool on_gpu = false;
    for (std::int64_t products = 1; products < 1'000'000'000; products *= 2) {
      const bool now = gpu_is_chosen(size, products, false);
      EXPECT_TRUE(now || !on_gpu) << n << ", " << products;
      on_gpu = now;
    }
    EXPECT_EQ(on_gpu, n > 100) << n;
  }
}

TEST(GramAutoDevice, ThreadsInstructionsAndVectorsCount) {
  const OperatorSize size{.n_rows = 10'000, .n_columns = 1'000, .element_bytes = 4};
  EXPECT_DOUBLE_EQ(cpu_seconds(size, kAvx512, 1, 1), 16 * cpu_seconds(size, kAvx512, 16, 1));
  EXPECT_GT(cpu_seconds(size, device::Backend::scalar, 2, 8), cpu_seconds(size, kAvx512, 2, 8));
  EXPECT_LT(cpu_seconds(size, kAvx512, 2, 8), 8 * cpu_seconds(size, kAvx512, 2, 1)) << "A is read once";
  EXPECT_DOUBLE_EQ(gpu_seconds(size, 8), 8 * gpu_seconds(size, 1));
}

}  // namespace
}  // namespace stope::gram
