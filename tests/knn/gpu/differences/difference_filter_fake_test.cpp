// The host's half of the difference filter, by images and by boxes, with the fake plug-in (device/fake_plugin.cpp):
// blocks under way, several GPUs, excluded rows, queries without an answer, errors. No GPU is needed;
// difference_filter_cuda_test.cpp and boxes_cuda_test.cpp test the real plug-in.
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
#include "knn/fitted.hpp"
#include "knn/search/method.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

// The parameter is what the fake plug-in plays: "differences" or "boxes".
class FakeDifferenceFilter : public testing::TestWithParam<const char*>, protected WithFakePlugin {
 protected:
  FakeDifferenceFilter() : WithFakePlugin(GetParam(), "cuda") {
    if (boxes()) setenv("STOPE_VISIT", "queries", 1);
  }
  static bool boxes() { return std::string(GetParam()) == "boxes"; }
  static Table table(std::int64_t n, double missing = 0.1) {
    Random random(3);
    return oracle::random_table(
        random,
        {.n_rows = n, .n_numeric = 3, .n_nominal = 1, .missing = missing, .values = oracle::TableShape::Values::few});
  }
  static void set_block(std::int64_t queries) { set_size("STOPE_TILE_QUERIES", queries); }
  static Neighbors on_processor(const Table& train, const Table& query, const SearchOptions& search,
                                const KnnOptions& options = {}) {
    unsetenv("STOPE_BACKEND");
    const Neighbors theirs = KnnIndex::fit(train, options).kneighbors(query, search, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    return theirs;
  }
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

// Pinned memory is slow to make. A search takes the memory that the last search left, and leaves as much.
TEST_P(FakeDifferenceFilter, SearchesShareTheirMemory) {
  void* const plugin = dlopen(STOPE_FAKE_PLUGIN, RTLD_NOW);
  ASSERT_NE(plugin, nullptr);
  const auto* pins = static_cast<const std::atomic<int>*>(dlsym(plugin, "stope_fake_pins"));
  ASSERT_NE(pins, nullptr);
  const Table train = table(100, 0.0), query = table(50, 0.0);
  for (const char* filter : {GetParam(), "filters"}) {
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

TEST_P(FakeDifferenceFilter, AnyBlocksGpusAndExclusionsGiveTheSameLists) {
  Random random(1);
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  int filtered = 0, short_lists = 0;
  std::int64_t uncertified = 0;
  const int rounds = repeated(200, 60);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const std::int64_t n = 2 + size(400);
    const Table train = table(n, random.below(2) == 0 ? 0.0 : 0.1);
    SearchOptions search{.n_neighbors = 1 + size(static_cast<std::uint64_t>(std::min<std::int64_t>(n - 1, 40)))};
    search.exclude_self = random.below(3) == 0;
    if (random.below(3) == 0) search.exclude_group = train.columns.back().name;  // may leave fewer than k
    KnnOptions options;
    // The fake plug-in leaves RapidMiner's heaps to the reference.
    if (search.exclude_group.empty() && random.below(4) == 0) options.compat = Compat::rapidminer;
    const Table query = search.exclude_self ? train : table(1 + size(200));
    set_block(1 + size(60));
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    const KnnIndex index = KnnIndex::fit(train, options, run_);
    const Neighbors theirs = on_processor(train, query, search, options);
    short_lists += theirs.offsets.back() < theirs.n_queries() * search.n_neighbors ? 1 : 0;
    for (int again = 0; again < 2; ++again) {
      ASSERT_NO_FATAL_FAILURE(expect_same(index.kneighbors(query, search, run_), theirs));
    }
    const SearchReport report = index.kneighbors(query, search, run_, [](const Neighbors&) {});
    EXPECT_EQ(report.backend, "cuda");
    const bool by_filter = report.method == (boxes() ? "filter, boxes" : "filter, differences");
    filtered += by_filter ? 1 : 0;
    // The fake plug-in opens three groups a query, and looks at one row.
    const std::int64_t opened = by_filter && boxes() ? query.n_rows : 0;
    EXPECT_EQ(report.opened, 3 * opened);
    EXPECT_EQ(report.skipped, opened * (n - 1));
    uncertified += report.uncertified;
  }
  EXPECT_GT(filtered, rounds / 2);
  EXPECT_GT(uncertified, rounds / 2);
  EXPECT_GT(short_lists, 0);
}

// A sink searches itself, and several threads search at the same time. None may wait for another for ever, and each
// must have its answer.
TEST_P(FakeDifferenceFilter, SearchesWithinAndBesideASearch) {
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

TEST_P(FakeDifferenceFilter, ALostGpuIsReportedWhereverItHappens) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  set_block(10);
  run_.device = "cuda:1,1";
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  EXPECT_GT(lose_the_gpu_at_every_call(theirs, [&] { return index.kneighbors(query, {}, run_); }), 10);
  expect_same(index.kneighbors(query, {}, run_), theirs);
}

TEST_P(FakeDifferenceFilter, AnAllocationThatFailsOnceCostsOnlyRoom) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  set_block(10);
  const auto fit = [&] { return KnnIndex::fit(train, {}, run_); };
  const auto search = [&](const KnnIndex& index) { return index.kneighbors(query, {}, run_); };
  EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 2);
}

// Blocks use the two places for answers in turn.
TEST_P(FakeDifferenceFilter, NoMemoryForASecondAnswerIsNoError) {
  const Table train = table(400), query = table(50);
  const Neighbors theirs = on_processor(train, query, {});
  set_block(10);
  for (std::int64_t n = 1; n < 12; ++n) {
    SCOPED_TRACE(n);
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    fault::arm_alloc(n);
    try {
      expect_same(index.kneighbors(query, {}, run_), theirs);
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "cannot allocate pinned memory");
    }
    fault::arm_alloc(0);
  }
}

TEST_P(FakeDifferenceFilter, StopsWhenCancelled) {
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

INSTANTIATE_TEST_SUITE_P(, FakeDifferenceFilter, testing::Values("differences", "boxes"),
                         [](const auto& role) { return std::string(role.param); });

// Few columns and many pairs: boxes, unless a word says otherwise. The fake plug-in has no other filter.
class FakeBoxSearch : public testing::Test, protected WithFakePlugin {
 protected:
  FakeBoxSearch() : WithFakePlugin("boxes", "cuda") {}
  // A table whose boxes leave few rows: one number in 3 columns.
  static Table line(std::int64_t n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * 0.5;
    Table table;
    table.n_rows = n;
    for (int c = 0; c < 3; ++c) table.columns.push_back(make_numeric("x" + std::to_string(c), values));
    return table;
  }
  std::string plan(const Table& train, const char* metric = "euclidean", std::int64_t k = 3) const {
    KnnOptions options;
    options.metric.name = metric;
    const KnnIndex index = KnnIndex::fit(train, options, run_);
    return knn::choose_method(index.fitted(), {.ks = {k}}, kManyQueries, device::choose_backend(run_), run_).reason;
  }
  static constexpr std::int64_t kManyQueries = std::int64_t{1} << 21;
  static constexpr const char* kBoxes = "boxes over boxes, on the GPU";
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

TEST_F(FakeBoxSearch, IsChosenWhereASampleLeavesFewRows) {
  const Table train = line(100'000);
  EXPECT_EQ(plan(train), kBoxes);
  EXPECT_EQ(plan(train, "manhattan"), kBoxes);
  EXPECT_EQ(plan(train, "gower"), kBoxes);
  EXPECT_NE(plan(train, "canberra"), kBoxes) << "a box bounds no shares";
  EXPECT_NE(plan(train.take({0, 1, 2, 3})), kBoxes) << "too few pairs";
  EXPECT_NE(plan(train, "euclidean", 33), kBoxes) << "long lists";
  setenv("STOPE_VISIT", "tiles", 1);
  EXPECT_NE(plan(train), kBoxes);
  setenv("STOPE_VISIT", "queries", 1);
  EXPECT_EQ(plan(train.take({0, 1, 2, 3})), kBoxes);
}

// In noise of eight columns boxes leave most rows.
TEST_F(FakeBoxSearch, IsNotChosenWhereBoxesRuleLittleOut) {
  Random random(5);
  Table train = line(100'000);
  train.columns.clear();
  for (int c = 0; c < 8; ++c) {
    std::vector<double> values(100'000);
    for (double& value : values) value = random.uniform();
    train.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  EXPECT_NE(plan(train), kBoxes);
}

TEST_F(FakeBoxSearch, IsNotChosenWhereThePluginHasNone) {
  setenv("STOPE_FAKE", "differences", 1);
  setenv("STOPE_VISIT", "tiles", 1);
  EXPECT_EQ(plan(line(100'000)), "sums in floats, on the GPU");
}

}  // namespace
}  // namespace stope
