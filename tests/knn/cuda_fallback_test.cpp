// A search for which the GPU has no kernel, and one whose GPU fails, by a plug-in that only pretends. No GPU.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class FakePlugin : public testing::Test {
 protected:
  void SetUp() override { setenv("STOPE_CUDA_PLUGIN", STOPE_FAKE_PLUGIN, 1); }
  ~FakePlugin() override { unsetenv("STOPE_FAKE"); }
  static Table table() {
    Random random(3);
    return oracle::random_table(random, {.n_rows = 40, .n_numeric = 3});
  }
  RunOptions run_ = {.device = "cuda"};
};

TEST_F(FakePlugin, WithoutAKernelTheProcessorSearchesAndSaysSo) {
  setenv("STOPE_FAKE", "no measure", 1);
  const KnnIndex index = KnnIndex::fit(table(), {}, run_);
  const SearchReport report = index.kneighbors(table(), {}, run_, [](const Neighbors&) {});
  EXPECT_NE(report.backend, "cuda");
  EXPECT_EQ(report.reason, "the CUDA plug-in has no kernel for mixed-euclidean");
  EXPECT_EQ(index.kneighbors(table(), {}, run_).indices, index.kneighbors(table()).indices);
}

TEST_F(FakePlugin, AnErrorOfThePluginKeepsItsCodeAndWords) {
  setenv("STOPE_FAKE", "", 1);
  const KnnIndex index = KnnIndex::fit(table(), {}, run_);
  try {
    index.kneighbors(table(), {}, run_);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device_lost);
    EXPECT_STREQ(error.what(), "the GPU was lost while it was looked at");
  }
  EXPECT_EQ(index.kneighbors(table()).n_queries(), 40) << "the processor still works";
}

}  // namespace
}  // namespace stope
