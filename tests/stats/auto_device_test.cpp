// What --device auto weighs for statistics of values in the host's memory.
#include "stats/auto_device.hpp"

#include <gtest/gtest.h>

namespace stope::stats {
namespace {

using device::Backend;

// bench/prior_works.py --work 001 and bench/stats.py: what has to be copied at 6.3 GB/s a thread or two have read
// before.
TEST(StatsAutoDevice, TheProcessorReadsFasterThanTheBusCopies) {
  for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 40; bytes *= 8) {
    EXPECT_FALSE(gpu_pays(bytes, Backend::avx512, 1, 1, true)) << bytes;
    EXPECT_FALSE(gpu_pays(bytes, Backend::avx2, 2, 1, true)) << bytes;
    EXPECT_FALSE(gpu_pays(bytes, Backend::scalar, 4, 1, true)) << bytes;
  }
}

TEST(StatsAutoDevice, ASlowThreadIsHelpedByAGpuFromTheCrossoverOn) {
  constexpr std::int64_t kMillion = 1'000'000;
  EXPECT_FALSE(gpu_pays(kMillion / 2, Backend::scalar, 1, 1, true)) << "0.2 ms here, a call takes 0.13";
  EXPECT_TRUE(gpu_pays(10 * kMillion, Backend::scalar, 1, 1, true)) << "4 ms here, 1.7 there";
  EXPECT_FALSE(gpu_pays(10 * kMillion, Backend::scalar, 1, 1, false)) << "the driver takes 210 ms";
  EXPECT_TRUE(gpu_pays(2'000 * kMillion, Backend::scalar, 1, 1, false)) << "800 ms here, 530 there";
  EXPECT_TRUE(gpu_pays(10 * kMillion, Backend::avx2, 1, 2, true)) << "two buses";
}

}  // namespace
}  // namespace stope::stats
