// What --device auto weighs. Which device really is faster: bench/knn_device.py; that auto falls back to the processor:
// tensor_filter_fake_test.cpp.
#include "knn/search/auto_device.hpp"

#include <gtest/gtest.h>

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

bool gpu_is_faster(const SearchSize& size, int threads = 16) {
  return gpu_seconds(size, "sm_90") < processor_seconds(size, kVnni, threads);
}

// On an H200 with 16 threads beside it, measured (bench/results/knn_device_*.json).
TEST(AutoDevice, AgreesWithWhatWasMeasured) {
  EXPECT_FALSE(gpu_is_faster(euclidean(10'000, 10'000, 20))) << "24 ms here, 233 there";
  EXPECT_FALSE(gpu_is_faster(euclidean(100'000, 1'000, 50))) << "36 ms here, 231 there";
  EXPECT_TRUE(gpu_is_faster(euclidean(100'000, 100'000, 20))) << "298 ms here, 255 there";
  SearchSize started = euclidean(30'000, 30'000, 20);
  EXPECT_FALSE(gpu_is_faster(started)) << "64 ms here, 263 there";
  started.started = true;
  EXPECT_TRUE(gpu_is_faster(started)) << "64 ms here, 15 there";
  SearchSize loaded = euclidean(100'000, 10, 50);
  loaded.started = true;
  EXPECT_FALSE(gpu_is_faster(loaded)) << "10 ms here, 20 there";
  loaded.loaded = true;
  EXPECT_TRUE(gpu_is_faster(loaded)) << "3 ms here, 0.15 there";
}

TEST(AutoDevice, MoreWorkNeverMovesASearchBackToTheProcessor) {
  for (const bool logarithms : {false, true}) {
    for (const bool filtered : {false, true}) {
      for (const std::int64_t n : {1'000, 100'000, 10'000'000}) {
        bool on_gpu = false;
        for (std::int64_t m = 8; m <= 10'000'000; m *= 2) {
          SearchSize size = euclidean(n, m, 30);
          size.logarithms = logarithms;
          size.filtered = size.filtered_on_gpu = filtered;
          const bool now = gpu_is_faster(size);
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
  EXPECT_GT(processor_seconds(size, kVnni, 1), 15.0 * processor_seconds(size, kVnni, 16));
  EXPECT_GT(processor_seconds(size, device::Backend::scalar, 4), processor_seconds(size, kVnni, 4));
  EXPECT_EQ(gpu_seconds(size, "sm_90"), gpu_seconds(size, "sm_999")) << "what was not measured counts as what was";
}

}  // namespace
}  // namespace stope::knn
