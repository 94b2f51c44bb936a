// What --device auto weighs. bench/knn_device.py measures which device really is faster; tensor_filter_fake_test.cpp
// tests that auto falls back to the CPU.
#include "knn/search/auto_device.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "base/random.hpp"
#include "device/auto_gpu.hpp"
#include "oracle/random_table.hpp"

namespace stope::knn {
namespace {

constexpr auto kVnni = device::Backend::avx512vnni;

SearchSize euclidean(std::int64_t n_rows, std::int64_t n_queries, std::int64_t width) {
  return {.n_rows = n_rows,
          .n_queries = n_queries,
          .width = width,
          .terms_per_pair = width,
          .squares = true,
          .filtered = true,
          .filtered_on_gpu = true};
}

bool gpu_is_faster(const SearchSize& size, bool started, int threads = 16) {
  return gpu_seconds(size) + (started ? 0.0 : device::kDriverSeconds) < cpu_seconds(size, kVnni, threads);
}

// Measured on an H200 with 16 CPU threads (bench/results/knn_device_*.json).
TEST(AutoDevice, AgreesWithWhatWasMeasured) {
  EXPECT_FALSE(gpu_is_faster(euclidean(10'000, 10'000, 20), false)) << "24 ms here, 233 there";
  EXPECT_FALSE(gpu_is_faster(euclidean(100'000, 1'000, 50), false)) << "36 ms here, 231 there";
  EXPECT_TRUE(gpu_is_faster(euclidean(100'000, 100'000, 20), false)) << "298 ms here, 255 there";
  EXPECT_FALSE(gpu_is_faster(euclidean(30'000, 30'000, 20), false)) << "64 ms here, 263 there";
  EXPECT_TRUE(gpu_is_faster(euclidean(30'000, 30'000, 20), true)) << "64 ms here, 15 there";
  SearchSize loaded = euclidean(100'000, 10, 50);
  EXPECT_FALSE(gpu_is_faster(loaded, true)) << "10 ms here, 20 there";
  loaded.loaded = true;
  EXPECT_TRUE(gpu_is_faster(loaded, true)) << "3 ms here, 0.15 there";
}

TEST(AutoDevice, MoreWorkNeverMovesASearchBackToTheCpu) {
  for (const bool logarithms : {false, true}) {
    for (const bool filtered : {false, true}) {
      for (const std::int64_t n : {1'000, 100'000, 10'000'000}) {
        bool on_gpu = false;
        for (std::int64_t m = 8; m <= 10'000'000; m *= 2) {
          SearchSize size = euclidean(n, m, 30);
          size.logarithms = logarithms;
          size.filtered = size.filtered_on_gpu = filtered;
          const bool now = gpu_is_faster(size, false);
          EXPECT_TRUE(now || !on_gpu) << n << " x " << m;
          on_gpu = now;
        }
        EXPECT_TRUE(on_gpu) << n;
      }
    }
  }
}

TEST(AutoDevice, ThreadsAndInstructionsCount) {
  const SearchSize size = euclidean(50'000, 50'000, 20);
  EXPECT_GT(cpu_seconds(size, kVnni, 1), 15.0 * cpu_seconds(size, kVnni, 16));
  EXPECT_GT(cpu_seconds(size, device::Backend::scalar, 4), cpu_seconds(size, kVnni, 4));
}

// Every divergence takes a logarithm of each pair of values, whatever values it allows.
TEST(AutoDevice, MeasuresSayThemselvesThatTheyUseLogarithms) {
  Random random(3);
  const Table table =
      oracle::random_table(random, {.n_rows = 50, .n_numeric = 1, .values = oracle::TableShape::Values::open_unit});
  const auto seconds = [&](const Metric& metric) {
    const Fitted fitted(table, {.metric = metric}, {});
    Selection nearest;
    nearest.ks = {5};
    SearchSize size = size_of(fitted, nearest, 1'000, kVnni);
    size.filtered = size.filtered_on_gpu = size.differences_on_gpu = false;
    return std::pair(cpu_seconds(size, kVnni, 4), gpu_seconds(size));
  };
  EXPECT_EQ(seconds({"kl"}), seconds({"itakura-saito"}));
  EXPECT_EQ(seconds({"kl"}), seconds({"generalized-i"}));
  EXPECT_EQ(seconds({"kl"}), seconds({"logarithmic-loss"}));
  EXPECT_EQ(seconds({"kl"}), seconds({"minkowski", {{"p", "3"}}})) << "pow";
  EXPECT_GT(seconds({"kl"}), seconds({"manhattan"}));
  EXPECT_EQ(seconds({"squared-loss"}), seconds({"manhattan"}));
}

}  // namespace
}  // namespace stope::knn
