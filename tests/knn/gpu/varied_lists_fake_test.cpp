// Lists that vary in length, from the filters of the fake plug-in (device/fake_plugin.cpp): those within a radius, and
// those without the rows of excluded groups. varied_lists_cuda_test.cpp tests the real plug-in.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "device/fake_counts.hpp"
#include "device/with_fake_plugin.hpp"
#include "effort.hpp"
#include "knn/answers.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The parameter is what the fake plug-in plays.
class FakeVariedLists : public testing::TestWithParam<const char*>, protected WithFakePlugin {
 protected:
  FakeVariedLists() : WithFakePlugin(GetParam(), "cuda") {
    if (role() == "boxes") setenv("STOPE_VISIT", "queries", 1);
  }
  static std::string role() { return GetParam(); }
  static std::string method() {
    return role() == "filters" ? "filter, products" : role() == "boxes" ? "filter, boxes" : "filter, differences";
  }
  static Table table(std::int64_t n, double missing = 0.1, std::uint64_t seed = 3) {
    Random random(seed);
    return oracle::random_table(
        random,
        {.n_rows = n, .n_numeric = 3, .n_nominal = 1, .missing = missing, .values = oracle::TableShape::Values::few});
  }
  /// One column, 0 for the first rows and then 10, 20 and so on.
  static Table clump(std::int64_t n_equal, std::int64_t n_others) {
    std::vector<double> values(static_cast<std::size_t>(n_equal), 0.0);
    for (std::int64_t i = 1; i <= n_others; ++i) values.push_back(10.0 * static_cast<double>(i));
    Table table;
    table.n_rows = n_equal + n_others;
    table.columns.push_back(make_numeric("x", values));
    return table;
  }
  static void set_sizes(std::int64_t queries, std::int64_t device_rows = 0, std::int64_t part_rows = 0) {
    set_size("STOPE_TILE_QUERIES", queries);
    set_size("STOPE_DEVICE_ROWS", device_rows);
    set_size("STOPE_PART_ROWS", part_rows);
  }
  template <class Search>
  static Neighbors on_processor(const Search& search) {
    set_sizes(0);
    unsetenv("STOPE_BACKEND");
    Neighbors theirs = search(RunOptions{.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    return theirs;
  }
  RunOptions run_ = {.threads = 2, .device = "cuda"};
};

TEST_P(FakeVariedLists, WithinARadiusAreThoseOfTheProcessor) {
  Random random(1);
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(random.below(most)); };
  const std::vector<double> radii = {-1.0, -0.0, 0.0, 1.0, std::sqrt(2.0), 1.5, 2.0, 3.0};
  int filtered = 0, in_parts = 0;
  std::int64_t uncertified = 0;
  const int rounds = repeated(160, 20);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const Table train = table(2 + size(700), random.below(2) == 0 ? 0.0 : 0.1);
    const double radius = radii[random.below(radii.size())];
    SearchOptions search;
    search.exclude_self = random.below(3) == 0;
    if (random.below(3) == 0) search.exclude_group = train.columns.back().name;
    const Table query = search.exclude_self ? train : table(1 + size(200), 0.1, 4);
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const auto searched = [&](const RunOptions& run) { return index.radius_neighbors(query, radius, search, run); };
    const Neighbors theirs = on_processor(searched);
    set_sizes(1 + size(60), random.below(3) == 0 ? 1 + size(300) : 0, random.below(4) == 0 ? 1 + size(200) : 0);
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    for (int again = 0; again < 2; ++again) ASSERT_NO_FATAL_FAILURE(expect_same(searched(run_), theirs));
    SearchReport report;
    index.radius_neighbors(query, radius, search, run_, &report);
    EXPECT_EQ(report.backend, "cuda");
    filtered += report.method == method() ? 1 : 0;
    in_parts += report.method == "filter, products, in parts" ? 1 : 0;
    uncertified += report.uncertified;
  }
  EXPECT_GT(filtered + in_parts, rounds / 3);
  EXPECT_GT(uncertified, rounds / 2);
  if (role() == "filters") {
    EXPECT_GT(in_parts, rounds / 6);
  }
}

// 127 rows fit 128 places, and 128 do not: there may be more.
TEST_P(FakeVariedLists, AListThatFillsItsPlacesIsNotTakenForWhole) {
  for (const std::int64_t n : {127, 128, 129, 1300}) {
    SCOPED_TRACE(n);
    const KnnIndex index = KnnIndex::fit(clump(n, 40), {}, run_);
    const Table query = clump(1, 0);
    SearchReport report;
    const Neighbors found = index.radius_neighbors(query, 5.0, {}, run_, &report);
    EXPECT_EQ(found.offsets, (std::vector<std::int64_t>{0, n}));
    EXPECT_EQ(report.method, method());
    EXPECT_EQ(report.uncertified, n < 128 ? 0 : 1);
  }
}

// A few queries that have more rows within the radius than the plan has room for do not stop the others.
TEST_P(FakeVariedLists, AFewLongListsAreLeftToTheReference) {
  const Table train = clump(3000, 200), query = clump(3, 150);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  const auto searched = [&](const RunOptions& run) { return index.radius_neighbors(query, 15.0, {}, run); };
  const Neighbors theirs = on_processor(searched);
  expect_same(searched(run_), theirs);
  SearchReport report;
  index.radius_neighbors(query, 15.0, {}, run_, &report);
  EXPECT_EQ(report.method, method());
  EXPECT_GE(report.uncertified, 4) << "three at 0, and 10";
}

TEST_P(FakeVariedLists, ManyLongListsGetMorePlacesAndThenTheReference) {
  const auto searched = [&](std::int64_t n_equal, std::int64_t n_queries) {
    const Table train = clump(n_equal, 60);
    const Table query = clump(n_queries, 20);
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const Neighbors theirs =
        on_processor([&](const RunOptions& run) { return index.radius_neighbors(query, 5.0, {}, run); });
    set_sizes(100);
    SearchReport report;
    expect_same(index.radius_neighbors(query, 5.0, {}, run_, &report), theirs);
    return report;
  };
  for (const std::int64_t n : {400, 512, 1023}) {
    SCOPED_TRACE(n);
    const SearchReport some = searched(n, 400);
    EXPECT_EQ(some.method, role() == "boxes" ? "reference" : method()) << "boxes have no more places";
    EXPECT_LT(some.uncertified, role() == "boxes" ? 1000 : 100) << "those of the first blocks";
  }
  EXPECT_EQ(searched(1024, 400).method, "reference");
}

// The first search goes through some queries again with more places. The next one begins with as many as it needs.
TEST_P(FakeVariedLists, ASearchBeginsWithThePlacesThatTheLastOneNeeded) {
  if (role() == "boxes") return;  // they have no more places
  for (const std::int64_t n_equal : {100, 400, 700}) {
    SCOPED_TRACE(n_equal);
    const Table train = clump(n_equal, 60), near = clump(400, 0), far = train.take({n_equal, n_equal + 1});
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const Neighbors theirs =
        on_processor([&](const RunOptions& run) { return index.radius_neighbors(near, 5.0, {}, run); });
    set_sizes(100);
    const auto places_of = [&](const Table& query, double radius) {
      SearchReport report;
      const CountedBytes bytes;
      const Neighbors ours = index.radius_neighbors(query, radius, {}, run_, &report);
      if (query.n_rows == near.n_rows && radius == 5.0) expect_same(ours, theirs);
      EXPECT_EQ(report.method, method());
      if (role() == "filters" && report.scanned == query.n_rows * train.n_rows) {
        return (bytes.to_host() / query.n_rows - 4) / 12;
      }
      return report.scanned / (query.n_rows * train.n_rows);  // 1: no query was searched twice
    };
    const std::int64_t needed = role() != "filters" ? 1 : n_equal < 128 ? 128 : n_equal < 512 ? 512 : 1024;
    places_of(near, 5.0);
    EXPECT_EQ(places_of(near, 5.0), needed);
    EXPECT_EQ(places_of(near, 6.0), needed) << "lists within a larger radius are no shorter";
    EXPECT_EQ(places_of(far, 5.0), needed) << "they are as the last search left them";
    EXPECT_EQ(places_of(far, 5.0), role() == "filters" ? 128 : 1) << "the last search needed no more";
  }
}

// The filter holds the training rows on the GPU, and the reference reads them there.
TEST_P(FakeVariedLists, QueriesWithoutAnAnswerDoNotCopyTheTrainingRowsAgain) {
  const Table train = table(700), query = table(50, 0.1, 4);
  for (const char* const device : {"cuda:1", "cuda:1,1,1"}) {
    SCOPED_TRACE(device);
    run_.device = device;
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const auto searched = [&](const RunOptions& run) { return index.radius_neighbors(query, 1.0, {}, run); };
    const Neighbors theirs = on_processor(searched);
    expect_same(searched(run_), theirs);
    const std::int64_t table_bytes = train.n_rows * 4 * 8, query_bytes = query.n_rows * 4 * 8;
    const CountedBytes bytes;
    SearchReport report;
    expect_same(index.radius_neighbors(query, 1.0, {}, run_, &report), theirs);
    EXPECT_GT(report.uncertified, 3);
    EXPECT_EQ(report.method, method());
    if (role() == "boxes") {
      EXPECT_GE(bytes.to_gpu(), table_bytes) << "boxes hold the rows in another order";
    } else {
      EXPECT_LE(bytes.to_gpu(), 2 * query_bytes);
    }
  }
}

// The index lets go of its filters while a search reads their rows.
TEST_P(FakeVariedLists, RowsStayAsLongAsTheReferenceReadsThem) {
  const Table train = table(700, 0.0), query = table(200, 0.1, 4);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  const SearchOptions search{.n_neighbors = 5};
  const Neighbors theirs = on_processor([&](const RunOptions& run) { return index.kneighbors(query, search, run); });
  set_sizes(20);
  std::int64_t uncertified = 0;
  for (int round = 0; round < 3; ++round) {
    std::size_t at = 0;
    const SearchReport report = index.kneighbors(query, search, run_, [&](const Neighbors& block) {
      index.release_devices();
      for (std::size_t i = 0; i < block.indices.size(); ++i, ++at) ASSERT_EQ(block.indices[i], theirs.indices[at]);
    });
    EXPECT_EQ(at, theirs.indices.size());
    uncertified += report.uncertified;
  }
  EXPECT_GT(uncertified, 10);
}

// The last block has more queries without an answer than the reference was made for.
TEST_P(FakeVariedLists, TheReferenceGrowsWithTheQueriesThatItGets) {
  constexpr double kNoAnswer = 0.7;  // of the fake filters
  std::vector<double> values;
  for (int i = 0; i < 240; ++i) values.push_back(i < 200 ? 10.0 + 0.25 * i : kNoAnswer);
  Table query;
  query.n_rows = 240;
  query.columns.push_back(make_numeric("x", values));
  const Table train = clump(200, 60);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  const SearchOptions search{.n_neighbors = 3};
  const Neighbors theirs = on_processor([&](const RunOptions& run) { return index.kneighbors(query, search, run); });
  set_sizes(60);
  for (int again = 0; again < 2; ++again) expect_same(index.kneighbors(query, search, run_), theirs);
  const SearchReport report = index.kneighbors(query, search, run_, [](const Neighbors&) {});
  EXPECT_EQ(report.method, method());
  EXPECT_EQ(report.uncertified, 60) << "one in 10, and 40 in the last block";
  EXPECT_EQ(report.evaluated, report.uncertified * train.n_rows);
}

// Whichever allocation of the GPU fails, that of more places included, the answer is there or memory is short.
TEST_P(FakeVariedLists, NoRoomForMorePlacesLeavesTheRestToTheReference) {
  const Table train = clump(400, 20), query = clump(200, 0);
  const auto fit = [&] { return KnnIndex::fit(train, {}, run_); };
  const KnnIndex index = fit();
  const Neighbors theirs =
      on_processor([&](const RunOptions& run) { return index.radius_neighbors(query, 5.0, {}, run); });
  set_sizes(100);
  const auto search = [&](const KnnIndex& fitted) { return fitted.radius_neighbors(query, 5.0, {}, run_); };
  EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 2);
}

TEST_P(FakeVariedLists, AnInfiniteRadiusIsLeftToTheReference) {
  const Table train = table(60), query = table(20);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  for (const double radius : {kInfinity, 1e300}) {
    const auto searched = [&](const RunOptions& run) { return index.radius_neighbors(query, radius, {}, run); };
    const Neighbors theirs = on_processor(searched);
    expect_same(searched(run_), theirs);
    SearchReport report;
    index.radius_neighbors(query, radius, {}, run_, &report);
    EXPECT_EQ(report.method, "reference");
    EXPECT_NE(report.method_reason.find("every row is within the radius"), std::string::npos) << report.method_reason;
  }
}

// The numbers of groups are their bits: negative ones exclude as others do.
TEST_P(FakeVariedLists, ExcludedGroupsOfAnySizeGiveTheSameLists) {
  Random random(5);
  int filtered = 0;
  const int rounds = repeated(120, 15);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const auto n = static_cast<std::int64_t>(20 + random.below(500));
    const Table train = table(n, random.below(2) == 0 ? 0.0 : 0.1);
    SearchOptions search{.n_neighbors = 1 + static_cast<std::int64_t>(random.below(19))};
    search.exclude_self = random.below(3) == 0;
    const Table query = search.exclude_self ? train : table(1 + static_cast<std::int64_t>(random.below(100)));
    const std::uint64_t n_groups = 1 + random.below(static_cast<std::uint64_t>(n));
    const auto groups = [&](std::int64_t rows) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < rows; ++i) {
        values.push_back(random.below(9) == 0 ? std::nan("") : 3.0 - static_cast<double>(random.below(n_groups)));
      }
      return make_numeric("", values);
    };
    search.exclude_train = groups(n);
    search.exclude_query = search.exclude_self ? search.exclude_train : groups(query.n_rows);
    const KnnIndex index = KnnIndex::fit(train, {}, run_);
    const auto searched = [&](const RunOptions& run) { return index.kneighbors(query, search, run); };
    const Neighbors theirs = on_processor(searched);
    const auto rows = static_cast<std::int64_t>(random.below(300));
    set_sizes(static_cast<std::int64_t>(random.below(60)), random.below(3) == 0 ? 1 + rows : 0);
    run_.device = random.below(3) == 0 ? "cuda:1,1,1" : "cuda";
    ASSERT_NO_FATAL_FAILURE(expect_same(searched(run_), theirs));
    const SearchReport report = index.kneighbors(query, search, run_, [](const Neighbors&) {});
    filtered += report.method.starts_with("filter") ? 1 : 0;
  }
  EXPECT_GT(filtered, rounds / 2);
}

// A vote counts the rows of the list that the host has chosen.
TEST_P(FakeVariedLists, VotesLeaveExcludedGroupsOut) {
  Table train = table(300, 0.0), query = table(80, 0.0, 4);
  for (Table* each : {&train, &query}) {
    std::vector<double> groups;
    for (std::int64_t i = 0; i < each->n_rows; ++i) groups.push_back(static_cast<double>(i % 40) - 20.0);
    each->columns.push_back(make_numeric("group", groups));
    each->columns.back().role = Role::id;
  }
  std::vector<std::int32_t> codes;
  for (std::int64_t i = 0; i < train.n_rows; ++i) codes.push_back(static_cast<std::int32_t>(i * i % 3));
  train.columns.push_back(make_nominal("label", codes, {"a", "b", "c"}));
  train.columns.back().role = Role::label;
  const KnnClassifier classifier = KnnClassifier::fit(train, {}, run_);
  const VoteOptions options{.n_neighbors = 7, .exclude_group = "group"};
  SearchReport report;
  const auto predicted = [&](const RunOptions& run) {
    return classifier.predict_each(query, {3, 7}, options, run, &report);
  };
  unsetenv("STOPE_BACKEND");
  const std::vector<Classification> theirs = predicted({.device = "cpu"});
  setenv("STOPE_BACKEND", "cuda", 1);
  const std::vector<Classification> ours = predicted(run_);
  EXPECT_TRUE(report.method.starts_with(method())) << report.method;
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    EXPECT_EQ(ours[i].codes, theirs[i].codes);
    EXPECT_TRUE(same_bits(ours[i].confidences, theirs[i].confidences));
  }
}

TEST_P(FakeVariedLists, ALostGpuAndAFailedAllocationAreReported) {
  const Table train = table(400), query = table(50);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  const auto searched = [&](const RunOptions& run) { return index.radius_neighbors(query, 1.0, {}, run); };
  const Neighbors theirs = on_processor(searched);
  set_sizes(10);
  run_.device = "cuda:1,1";
  EXPECT_GT(lose_the_gpu_at_every_call(
                theirs, [&] { return KnnIndex::fit(train, {}, run_).radius_neighbors(query, 1.0, {}, run_); }),
            10);
  const auto fit = [&] { return KnnIndex::fit(train, {}, run_); };
  const auto search = [&](const KnnIndex& fitted) { return fitted.radius_neighbors(query, 1.0, {}, run_); };
  EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 2);
}

TEST_P(FakeVariedLists, SearchesBesideASearchHaveTheirOwnLists) {
  const Table train = table(300), query = table(100);
  const KnnIndex index = KnnIndex::fit(train, {}, run_);
  const auto searched = [&](const RunOptions& run) { return index.radius_neighbors(query, 1.0, {}, run); };
  const Neighbors theirs = on_processor(searched);
  set_sizes(9);
  std::vector<Neighbors> ours(5);
  {
    std::vector<std::jthread> threads;
    for (Neighbors& mine : ours) threads.emplace_back([&] { mine = searched(run_); });
  }
  for (const Neighbors& mine : ours) expect_same(mine, theirs);
}

INSTANTIATE_TEST_SUITE_P(Filters, FakeVariedLists, testing::Values("filters", "differences", "boxes"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace stope
