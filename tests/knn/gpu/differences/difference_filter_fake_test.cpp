// The host's half of the difference filter, with the fake plug-in (device/fake_plugin.cpp): blocks under way, several
// GPUs, excluded rows, queries without an answer, errors. No GPU is needed; difference_filter_cuda_test.cpp tests the
// real plug-in.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class FakeDifferenceFilter : public testing::Test, protected WithFakePlugin {
 protected:
  FakeDifferenceFilter() : WithFakePlugin("differences", "cuda") {}
  static Table table(std::int64_t n, double missing = 0.1) {
    Random random(3);
    return oracle::random_table(
        random,
        {.n_rows = n, .n_numeric = 3, .n_nominal = 1, .missing = missing, .values = oracle::TableShape::Values::few});
  }
  static void set_block(std::int64_t queries) { set_size("STOPE_TILE_QUERIES", queries); }
  static Neighbors on_processor(const Table& train, const Table& query, const SearchOptions& search) {
    unsetenv("STOPE_BACKEND");
    const Neighbors theirs = KnnIndex::fit(train).kneighbors(query, search, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    return theirs;
  }
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

// Pinned memory is slow to make. A search takes the memory that the last search left, and leaves as much.
TEST_F(FakeDifferenceFilter, SearchesShareTheirMemory) {
  void* const plugin = dlopen(STOPE_FAKE_PLUGIN, RTLD_NOW);
  ASSERT_NE(plugin, nullptr);
  const auto* pins = static_cast<const std::atomic<int>*>(dlsym(plugin, "stope_fake_pins"));
  ASSERT_NE(pins, nullptr);
  const Table train = table(100, 0.0), query = table(50, 0.0);
  for (const char* filter : {"differences", "filters"}) {
    SCOPED_TRACE(filter);
    setenv("STOPE_FAKE", filter, 1);
    set_block(9);
    const int before = *pins;
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    index.kneighbors(query, {}, run_);
    const int after_one = *pins;
    EXPECT_GT(after_one, before);
    for (int again = 0; again < 5; ++again) index.kneighbors(query, {}, run_);
    EXPECT_EQ(*pins, after_one);
  }
  dlclose(plugin);
}

TEST_F(FakeDifferenceFilter, AnyBlocksGpusAndExclusionsGiveTheSameLists) {
  Random random(1);
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  int filtered = 0, short_lists = 0;
  std::int64_t uncertified = 0;
  const int rounds = repeated(200, 40);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t n = 2 + size(400);
    const Table train = table(n, random.below(2) == 0 ? 0.0 : 0.1);
    SearchOptions search{.n_neighbors = 1 + size(static_cast<std::uint64_t>(std::min<std::int64_t>(n - 1, 40)))};
    search.exclude_self = random.below(3) == 0;
    if (random.below(3) == 0) search.exclude_group = train.columns.back().name;  // may leave fewer than k
    const Table query = search.exclude_self ? train : table(1 + size(200));
    set_block(1 + size(60));
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const Neighbors theirs = on_processor(train, query, search);
    short_lists += theirs.offsets.back() < theirs.n_queries() * search.n_neighbors ? 1 : 0;
    for (int again = 0; again < 2; ++again) {
      ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search, run_), theirs));
    }
    const SearchReport report = index.kneighbors(query, search, run_, [](const Neighbors&) {});
    EXPECT_EQ(report.backend, "cuda");
    filtered += report.method == "filter, differences" ? 1 : 0;
    uncertified += report.uncertified;
  }
  EXPECT_GT(filtered, rounds / 2);
  EXPECT_GT(uncertified, rounds / 2);
  EXPECT_GT(short_lists, 0);
}

// A sink searches itself, and several threads search at the same time. None may wait for another for ever, and each
// must have its answer.
TEST_F(FakeDifferenceFilter, SearchesWithinAndBesideASearch) {
  const Table train = table(300), query = table(100);
  const SearchOptions search{.n_neighbors = 7};
  const Neighbors theirs = on_processor(train, query, search);
  set_block(9);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  index.kneighbors(query, search, run_, [&](const Neighbors& block) {
    if (block.first_query % 27 == 0) expect_same(index.kneighbors(query, search, run_), theirs);
  });
  std::vector<Neighbors> ours(6);
  {
    std::vector<std::jthread> threads;
    for (Neighbors& mine : ours) threads.emplace_back([&] { mine = index.kneighbors(query, search, run_); });
  }
  for (const Neighbors& mine : ours) expect_same(mine, theirs);
}

TEST_F(FakeDifferenceFilter, ALostGpuIsReportedWhereverItHappens) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  set_block(10);
  run_.device = "cuda:1,1";
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  EXPECT_GT(lose_the_gpu_at_every_call(theirs, [&] { return index.kneighbors(query, {}, run_); }), 10);
  expect_same(index.kneighbors(query, {}, run_), theirs);
}

TEST_F(FakeDifferenceFilter, AnAllocationThatFailsOnceCostsOnlyRoom) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  set_block(10);
  const auto fit = [&] { return KnnIndex::fit(train, {}, run_); };
  const auto search = [&](const KnnIndex& index) { return index.kneighbors(query, {}, run_); };
  EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 2);
}

TEST_F(FakeDifferenceFilter, StopsWhenCancelled) {
  const Table train = table(400), query = table(200);
  set_block(10);
  const RunOptions run = {.threads = 2, .device = "cuda:1,1"};
  const KnnIndex index = KnnIndex::fit(train, {}, run);
  try {
    index.kneighbors(query, {}, run, [&](const Neighbors&) { run.cancel.cancel(); });
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace stope
