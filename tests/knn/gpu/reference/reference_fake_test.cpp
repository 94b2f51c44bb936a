// The host's half of a search on GPUs, with the fake plug-in (device/fake_plugin.cpp): tiles, chunks, several GPUs,
// lists, errors. No GPU is needed; reference_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn_pairwise.hpp"

namespace stope {
namespace {

constexpr const char* kSizes[] = {"STOPE_TILE_QUERIES", "STOPE_TILE_ROWS", "STOPE_DEVICE_ROWS", "STOPE_PART_ROWS"};

class FakeReference : public testing::Test, protected WithFakePlugin {
 protected:
  static Table table(std::int64_t n = 40) {
    Random random(3);
    return oracle::random_table(random, {.n_rows = n, .n_numeric = 3, .missing = 0.1, .values = TableValues::few});
  }
  static void set_sizes(std::initializer_list<std::int64_t> sizes) {
    const char* const* name = kSizes;
    for (const std::int64_t size : sizes) set_size(*name++, size);
  }
  using TableValues = oracle::TableShape::Values;
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

TEST_F(FakeReference, AnyTilesChunksAndGpusGiveTheSameLists) {
  Random random(1);
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  for (int round = 0; round < repeated(300, 30); ++round) {
    SCOPED_TRACE(round);
    const std::int64_t n = 1 + size(700);
    const Table train = table(n);
    KnnOptions options;
    options.compat = random.below(3) == 0 ? Compat::rapidminer : Compat::none;
    const SearchOptions search{.n_neighbors =
                                   1 + size(static_cast<std::uint64_t>(random.below(2) == 0 ? n : 1 + n / 30))};
    set_sizes({0, 0, 0, 0});
    const Neighbors theirs = KnnIndex::fit(train, options).kneighbors(table(60), search);
    set_sizes({size(40), size(100), size(300), random.below(3) == 0 ? size(400) : 0});
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    const KnnIndex index = KnnIndex::fit(train, options);
    ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(table(60), search, run_), theirs));
    EXPECT_EQ(index.kneighbors(table(1), search, run_, [](const Neighbors&) {}).backend, "cuda");
  }
}

TEST_F(FakeReference, ListsWithinARadiusMayBeLong) {
  const Table train = table(3000);
  const KnnIndex index = KnnIndex::fit(train);
  std::vector<std::int64_t> ours, theirs;
  const auto to = [](std::vector<std::int64_t>& all) {
    return [&all](const Neighbors& block) { all.insert(all.end(), block.indices.begin(), block.indices.end()); };
  };
  set_sizes({7, 500, 1100, 0});
  index.radius_neighbors(table(20), 2.5, {}, run_, to(ours));
  index.radius_neighbors(table(20), 2.5, {}, {}, to(theirs));
  EXPECT_GT(ours.size(), 20U * 1024U) << "longer than a plan begins with";
  EXPECT_EQ(ours, theirs);
}

TEST_F(FakeReference, MatricesComeTileByTile) {
  const Table reference = table(130), request = table(37);
  const auto matrix = [&](const RunOptions& run) {
    std::vector<double> values;
    pairwise_distances(request, reference, {}, run, [&](const PairwiseBlock& block) {
      for (std::int64_t i = 0; i < block.n_requests * block.n_reference; ++i) {
        values.push_back(std::isnan(block.values[i]) ? -1.0 : block.values[i]);
      }
    });
    return values;
  };
  const std::vector<double> theirs = matrix({});
  set_sizes({10, 31, 40, 0});
  EXPECT_EQ(matrix(run_), theirs);
}

TEST_F(FakeReference, ALostGpuIsReportedWhereverItHappens) {
  const Table train = table(400);
  const KnnIndex index = KnnIndex::fit(train);
  const Neighbors theirs = index.kneighbors(table(30), {});
  set_sizes({10, 60, 90, 0});
  run_.device = "cuda:1,1";
  EXPECT_GT(lose_the_gpu_at_every_call(theirs, [&] { return index.kneighbors(table(30), {}, run_); }), 50);
}

TEST_F(FakeReference, AnAllocationThatFailsOnceCostsOnlyRoom) {
  const auto fit = [] { return KnnIndex::fit(table(200)); };
  const Neighbors theirs = fit().kneighbors(table(), {});
  const auto search = [&](const KnnIndex& index) { return index.kneighbors(table(), {}, run_); };
  EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 0);
}

TEST_F(FakeReference, StopsWhenCancelled) {
  run_.cancel.cancel();
  try {
    KnnIndex::fit(table()).kneighbors(table(), {}, run_);
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

TEST_F(FakeReference, WithoutAKernelTheProcessorSearchesAndSaysSo) {
  setenv("STOPE_FAKE", "no measure", 1);
  const KnnIndex index = KnnIndex::fit(table(), {}, run_);
  const SearchReport report = index.kneighbors(table(), {}, run_, [](const Neighbors&) {});
  EXPECT_NE(report.backend, "cuda");
  EXPECT_EQ(report.reason, "the CUDA plug-in has no kernel for mixed-euclidean");
  expect_same(index.kneighbors(table(), {}, run_), index.kneighbors(table()));
}

TEST_F(FakeReference, AnErrorOfThePluginKeepsItsCodeAndWords) {
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
