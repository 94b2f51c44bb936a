// A process remembers that it has had work for a GPU, since its driver has started then: `auto` counts the start once.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/random.hpp"
#include "device/cuda_plugin.hpp"
#include "device/with_fake_plugin.hpp"
#include "oracle/random_table.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class CudaUse : public testing::Test, protected WithFakePlugin {};

// In a process of its own, since other tests search on GPUs.
TEST_F(CudaUse, IsNotedByASearchOnAGpuAndByNoneOnTheCpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto noted = [] {
    Random random(3);
    const Table table = oracle::random_table(random, {.n_rows = 50, .n_numeric = 3});
    const KnnIndex index = KnnIndex::fit(table, {}, {.threads = 1, .device = "cpu"});
    (void)index.kneighbors(table, {.n_neighbors = 2}, {.threads = 1, .device = "cpu"});
    if (device::cuda_was_used()) return 1;
    (void)index.kneighbors(table, {.n_neighbors = 2}, {.threads = 1, .device = "cuda:1"});
    return device::cuda_was_used() ? 0 : 2;
  };
  EXPECT_EXIT(std::_Exit(noted()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stope
