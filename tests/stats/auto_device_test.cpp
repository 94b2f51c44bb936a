// What --device auto weighs for statistics of values in host memory.
#include "stats/auto_device.hpp"

#include <gtest/gtest.h>

namespace stope::stats {
namespace {

using device::Backend;

constexpr std::int64_t kMega = 1'000'000;

// Two threads read values faster than the bus copies them, at 17 GB/s (bench/prior_works.py --work 001,
// bench/stats.py).
TEST(StatsAutoDevice, TheProcessorReadsFasterThanTheBusCopies) {
  for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 40; bytes *= 8) {
    EXPECT_FALSE(device::gpu_pays(offer_of(bytes, Backend::avx512, 2, 1), true)) << bytes;
    EXPECT_FALSE(device::gpu_pays(offer_of(bytes, Backend::avx2, 4, 1), true)) << bytes;
    EXPECT_FALSE(device::gpu_pays(offer_of(bytes, Backend::scalar, 6, 1), true)) << bytes;
  }
}

TEST(StatsAutoDevice, ASlowThreadIsHelpedByAGpuFromTheCrossoverOn) {
  EXPECT_FALSE(device::gpu_pays(offer_of(134 * kMega, Backend::avx512, 1, 1), true)) << "14 ms here, 16 there";
  EXPECT_TRUE(device::gpu_pays(offer_of(537 * kMega, Backend::avx512, 1, 1), true)) << "54 ms here, 42 there";
  EXPECT_FALSE(device::gpu_pays(offer_of(537 * kMega, Backend::avx512, 1, 1), false)) << "the driver takes 210 ms";
  EXPECT_FALSE(device::gpu_pays(offer_of(10 * kMega, Backend::scalar, 1, 1), true)) << "4 ms here, 10 there";
  EXPECT_TRUE(device::gpu_pays(offer_of(2'000 * kMega, Backend::scalar, 1, 1), false)) << "800 ms here, 340 there";
  EXPECT_TRUE(device::gpu_pays(offer_of(537 * kMega, Backend::avx2, 2, 2), true)) << "two buses";
}

}  // namespace
}  // namespace stope::stats
