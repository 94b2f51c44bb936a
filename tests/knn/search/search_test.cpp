// Compares the search with a sort of all distances, by one test body on every back end of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "device/cuda_plugin.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "oracle/measure_oracle.hpp"
#include "oracle/random_table.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

struct Expected {
  double distance;
  std::int64_t row;
};

// Returns all rows that are not excluded, by (distance, row), NaN last.
template <class Excluded>
std::vector<Expected> sorted_rows(const std::string& metric, const Table& train, const Table& query, std::int64_t i,
                                  const Excluded& excluded) {
  std::vector<Expected> all;
  for (std::int64_t row = 0; row < train.n_rows; ++row) {
    if (!excluded(row)) all.push_back({oracle::distance(metric, train, row, query, i), row});
  }
  std::stable_sort(all.begin(), all.end(), [](const Expected& a, const Expected& b) {
    if (std::isnan(a.distance) || std::isnan(b.distance)) return !std::isnan(a.distance) && std::isnan(b.distance);
    return a.distance < b.distance;
  });
  return all;
}

void expect_list(const Neighbors& lists, std::int64_t i, const std::vector<Expected>& expected, std::size_t count) {
  const auto begin = static_cast<std::size_t>(lists.offsets[static_cast<std::size_t>(i)]);
  const auto end = static_cast<std::size_t>(lists.offsets[static_cast<std::size_t>(i) + 1]);
  ASSERT_EQ(end - begin, std::min(count, expected.size()));
  for (std::size_t j = begin; j < end; ++j) {
    ASSERT_EQ(lists.indices[j], expected[j - begin].row) << "query " << i << " position " << j - begin;
    const double ours = lists.distances[j], theirs = expected[j - begin].distance;
    ASSERT_TRUE(ours == theirs || (std::isnan(ours) && std::isnan(theirs))) << ours << " != " << theirs;
  }
}

// Sets STOPE_BACKEND and tile sizes for one scope.
class Environment {
 public:
  Environment(const std::string& backend, std::int64_t tile_queries, std::int64_t tile_rows) {
    setenv("STOPE_BACKEND", backend.c_str(), 1);
    setenv("STOPE_TILE_QUERIES", std::to_string(tile_queries).c_str(), 1);
    setenv("STOPE_TILE_ROWS", std::to_string(tile_rows).c_str(), 1);
  }
  ~Environment() {
    unsetenv("STOPE_BACKEND");
    unsetenv("STOPE_TILE_QUERIES");
    unsetenv("STOPE_TILE_ROWS");
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

class SearchTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    for (const BackendInfo& backend : device_info().backends) {
      if (backend.name == GetParam() && !backend.available) GTEST_SKIP() << backend.name << ": " << backend.reason;
    }
  }
};

TEST_P(SearchTest, FindsTheNearestByDistanceAndRow) {
  Random random(11);
  const std::vector<std::int64_t> sizes = {1, 2, 31, 32, 33, 127, 128, 129, 300};
  const std::vector<std::string> metrics = {"mixed-euclidean", "gower", "heom", "hamming"};
  for (int round = 0; round < repeated(150, 20); ++round) {
    const TableShape shape{.n_rows = sizes[random.below(sizes.size())],
                           .n_numeric = static_cast<int>(random.below(5)),
                           .n_nominal = 1 + static_cast<int>(random.below(3)),
                           .missing = static_cast<double>(random.below(4)) * 0.2,
                           .values = static_cast<TableShape::Values>(random.below(3))};
    const Table train = oracle::random_table(random, shape);
    TableShape query_shape = shape;
    query_shape.n_rows = sizes[random.below(6)];
    const Table query = oracle::random_table(random, query_shape);
    const std::string& metric = metrics[random.below(metrics.size())];
    const std::int64_t k = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(train.n_rows)));
    const Environment environment(GetParam(), 1 + static_cast<std::int64_t>(random.below(40)),
                                  1 + static_cast<std::int64_t>(random.below(70)));
    RunOptions run;
    run.threads = 1 + static_cast<int>(random.below(4));
    const KnnIndex index = KnnIndex::fit(train, {{metric, {}}, {}, Compat::none}, run);
    const Neighbors lists = index.kneighbors(query, {.n_neighbors = k}, run);
    ASSERT_EQ(lists.n_queries(), query.n_rows);
    for (std::int64_t i = 0; i < query.n_rows; ++i) {
      SCOPED_TRACE("round " + std::to_string(round) + " " + metric);
      ASSERT_NO_FATAL_FAILURE(expect_list(lists, i,
                                          sorted_rows(metric, train, query, i, [](std::int64_t) { return false; }),
                                          static_cast<std::size_t>(k)));
    }
  }
}

TEST_P(SearchTest, ExcludesSelfAndGroupByRowId) {
  Random random(5);
  const TableShape shape{
      .n_rows = 70, .n_numeric = 2, .n_nominal = 2, .missing = 0.1, .values = TableShape::Values::few};
  const Table table = oracle::random_table(random, shape);
  const Environment environment(GetParam(), 16, 33);
  const KnnIndex index = KnnIndex::fit(table);
  const Neighbors lists = index.kneighbors(table, {.n_neighbors = 69, .exclude_self = true, .exclude_group = "s1"});
  const Column& group = table.columns[3];
  for (std::int64_t i = 0; i < table.n_rows; ++i) {
    const auto excluded = [&](std::int64_t row) {
      return row == i || (!group.missing(i) && !group.missing(row) && group.at(i) == group.at(row));
    };
    ASSERT_NO_FATAL_FAILURE(expect_list(lists, i, sorted_rows("mixed-euclidean", table, table, i, excluded), 69));
  }
}

TEST_P(SearchTest, RadiusTakesTheBoundaryAndNoNaN) {
  Random random(6);
  const Table train = oracle::random_table(
      random, {.n_rows = 90, .n_numeric = 2, .n_nominal = 1, .missing = 0.3, .values = TableShape::Values::few});
  const Environment environment(GetParam(), 7, 31);
  const KnnIndex index = KnnIndex::fit(train);
  for (const double radius : {-1.0, 0.0, 1.0, std::sqrt(2.0), 100.0}) {
    std::int64_t next = 0;
    index.radius_neighbors(train, radius, {}, {}, [&](const Neighbors& lists) {
      ASSERT_EQ(lists.first_query, next);
      for (std::int64_t i = 0; i < lists.n_queries(); ++i, ++next) {
        std::vector<Expected> expected;
        for (const Expected& e :
             sorted_rows("mixed-euclidean", train, train, next, [](std::int64_t) { return false; })) {
          if (e.distance <= radius) expected.push_back(e);
        }
        ASSERT_NO_FATAL_FAILURE(expect_list(lists, i, expected, expected.size()));
      }
    });
    EXPECT_EQ(next, train.n_rows);
  }
  expect_error(ErrorCode::invalid_argument, "the radius is not a number",
               [&] { index.radius_neighbors(train, std::nan(""), {}, {}, [](const Neighbors&) {}); });
}

// RapidMiner's queue as in the textbook: siftUp and poll on a vector, rows offered in training order.
class TextbookQueue {
 public:
  explicit TextbookQueue(std::size_t k) : k_(k) {}
  void offer(double d, std::int64_t row) {
    if (h_.size() < k_) {
      push({d, row});
    } else if (compare(d, h_[0].distance) < 0) {
      const Expected last = h_.back();
      h_.pop_back();
      if (!h_.empty()) sink(last);
      push({d, row});
    }
  }
  const std::vector<Expected>& array() const { return h_; }

 private:
  static int compare(double a, double b) {  // Double.compareTo
    if (a < b) return -1;
    if (a > b) return 1;
    const auto rank = [](double v) { return std::isnan(v) ? 2 : std::signbit(v) ? 0 : 1; };
    if (!std::isnan(a) && !std::isnan(b) && a != 0.0) return 0;
    return rank(a) - rank(b);
  }
  void push(Expected e) {
    h_.push_back(e);
    for (std::size_t p = h_.size() - 1; p > 0 && compare(h_[p].distance, h_[(p - 1) / 2].distance) > 0;
         p = (p - 1) / 2) {
      std::swap(h_[p], h_[(p - 1) / 2]);
    }
  }
  void sink(Expected last) {
    h_[0] = last;
    std::size_t p = 0;
    while (2 * p + 1 < h_.size()) {
      std::size_t c = 2 * p + 1;
      if (c + 1 < h_.size() && compare(h_[c + 1].distance, h_[c].distance) > 0) ++c;
      if (compare(h_[p].distance, h_[c].distance) >= 0) break;
      std::swap(h_[p], h_[c]);
      p = c;
    }
  }
  std::size_t k_;
  std::vector<Expected> h_;
};

TEST_P(SearchTest, RadiusListsMayOutgrowThePlan) {
  constexpr std::int64_t kRows = 20000;  // far more than a list is planned for at first, and for the second time
  std::vector<double> x(kRows, 1.0), queries(300, 50.0);
  x[7] = 50.0;
  queries[170] = queries[299] = 1.0;
  const Table train{{make_numeric("x", x)}, kRows, "train"};
  const Table query{{make_numeric("x", queries)}, 300, "query"};
  const Environment environment(GetParam(), 100, 1000);
  RunOptions run;
  run.memory_limit = 8 << 20;  // a list of all rows takes 640 kB: there is no room for one per query
  std::int64_t at = 0;
  const SearchReport report = KnnIndex::fit(train).radius_neighbors(query, 0.5, {}, run, [&](const Neighbors& lists) {
    ASSERT_EQ(lists.first_query, at);
    for (std::int64_t i = 0; i < lists.n_queries(); ++i, ++at) {
      const std::int64_t begin = lists.offsets[static_cast<std::size_t>(i)];
      const std::int64_t length = lists.offsets[static_cast<std::size_t>(i) + 1] - begin;
      ASSERT_EQ(length, at == 170 || at == 299 ? kRows - 1 : 1) << at;
      ASSERT_EQ(lists.indices[static_cast<std::size_t>(begin)], length == 1 ? 7 : 0) << at;
    }
  });
  EXPECT_EQ(at, 300);
  EXPECT_LE(report.memory_planned, run.memory_limit);
}

TEST_P(SearchTest, RapidMinerModeKeepsTheHeapsOrder) {
  Random random(9);
  for (int round = 0; round < repeated(200, 20); ++round) {
    const TableShape shape{.n_rows = 1 + static_cast<std::int64_t>(random.below(80)),
                           .n_numeric = 1,
                           .n_nominal = 1,
                           .missing = round % 4 == 0 ? 0.3 : 0.0,
                           .values = TableShape::Values::few};
    const Table train = oracle::random_table(random, shape);
    const auto k = static_cast<std::int64_t>(1 + random.below(static_cast<std::uint64_t>(shape.n_rows) + 3));
    const Environment environment(GetParam(), 1 + static_cast<std::int64_t>(random.below(20)),
                                  1 + static_cast<std::int64_t>(random.below(50)));
    KnnOptions options;
    options.compat = Compat::rapidminer;
    const Neighbors lists = KnnIndex::fit(train, options).kneighbors(train, {.n_neighbors = k}, {.threads = 2});
    for (std::int64_t i = 0; i < train.n_rows; ++i) {
      TextbookQueue queue(static_cast<std::size_t>(k));
      for (std::int64_t row = 0; row < train.n_rows; ++row) {
        queue.offer(oracle::distance("mixed-euclidean", train, row, train, i), row);
      }
      ASSERT_NO_FATAL_FAILURE(expect_list(lists, i, queue.array(), queue.array().size()));
    }
  }
}

TEST_P(SearchTest, StopsWhenCancelled) {
  Random random(2);
  const Table table = oracle::random_table(random, {.n_rows = 100, .n_numeric = 2});
  const Environment environment(GetParam(), 10, 10);
  RunOptions run;
  std::int64_t calls = 0;
  run.progress = [&](std::string_view, std::int64_t, std::int64_t) {
    ++calls;
    run.cancel.cancel();
  };
  const KnnIndex index = KnnIndex::fit(table);
  try {
    index.kneighbors(table, {}, run);
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_EQ(calls, 1);
}

TEST_P(SearchTest, ChecksKAndTables) {
  const Environment environment(GetParam(), 4, 4);
  Random random(1);
  const Table table = oracle::random_table(random, {.n_rows = 5, .n_numeric = 1});
  const KnnIndex index = KnnIndex::fit(table);
  const auto code = [&](const Table& queries, const SearchOptions& options) {
    try {
      index.kneighbors(queries, options);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code(table, {.n_neighbors = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table, {.n_neighbors = 6}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table, {.n_neighbors = 5, .exclude_self = true}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(table, {.n_neighbors = 1, .exclude_group = "nowhere"}), ErrorCode::invalid_argument);
  const Table other = oracle::random_table(random, {.n_rows = 4, .n_numeric = 1});
  EXPECT_EQ(code(other, {.n_neighbors = 1, .exclude_self = true}), ErrorCode::invalid_argument);
  const Table nominal = oracle::random_table(random, {.n_rows = 4, .n_nominal = 1});
  EXPECT_EQ(code(nominal, {.n_neighbors = 1}), ErrorCode::invalid_data);
  Table none = other;
  none.columns[0].data = Buffer<double>(0);
  none.n_rows = 0;
  EXPECT_EQ(index.kneighbors(none).n_queries(), 0);
  expect_error(ErrorCode::invalid_data, "the training table has no rows", [&] { KnnIndex::fit(none); });
}

// All back ends of the project; those that this machine lacks are skipped with the reason.
std::vector<std::string> all_backends() {
  std::vector<std::string> names;
  for (const BackendInfo& backend : device_info().backends) names.push_back(backend.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, SearchTest, testing::ValuesIn(all_backends()),
                         [](const auto& backend) { return backend.param; });

TEST(Search, AnUnseenValueEqualsNothingByDefaultAndIsMissingForRapidMiner) {
  Table train;
  train.n_rows = 2;
  train.columns.push_back(make_numeric("x", {0.0, 1.0}));
  train.columns.push_back(make_nominal("s", {0, 1}, {"a", "b"}));
  Table query;
  query.n_rows = 1;
  query.columns.push_back(make_nominal("s", {1}, {"b", "new"}));
  query.columns.push_back(make_numeric("x", {0.0}));
  KnnOptions options;
  EXPECT_EQ(KnnIndex::fit(train, options).kneighbors(query, {.n_neighbors = 2}).distances,
            (std::vector<double>{1.0, std::sqrt(2.0)}));
  options.compat = Compat::rapidminer;
  EXPECT_EQ(KnnIndex::fit(train, options).kneighbors(query, {.n_neighbors = 1}).distances, std::vector<double>{0.0});
}

TEST(Search, ValuesAreMatchedByName) {
  Table train;
  train.n_rows = 2;
  train.columns.push_back(make_nominal("s", {0, 1}, {"a", "b"}));
  Table query;
  query.n_rows = 2;
  query.columns.push_back(make_nominal("s", {0, 1}, {"b", "a"}));
  EXPECT_EQ(KnnIndex::fit(train).kneighbors(query, {.n_neighbors = 1}).indices, (std::vector<std::int64_t>{1, 0}));
}

TEST(Search, AnUnavailableBackEndIsAnError) {
  Random random(1);
  const Table table = oracle::random_table(random, {.n_rows = 3, .n_numeric = 1});
  const KnnIndex index = KnnIndex::fit(table);
  const auto code = [&](const char* backend, const char* device) {
    const Environment environment(backend, 1, 1);
    RunOptions run;
    run.device = device;
    try {
      index.kneighbors(table, {.n_neighbors = 1}, run);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code("nonsense", "auto"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("", "cuda:"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("", "cuda:0,,1"), ErrorCode::invalid_argument);
  EXPECT_EQ(code("", "gpu"), ErrorCode::invalid_argument);
  for (const BackendInfo& backend : device_info().backends) {
    if (!backend.available) {
      EXPECT_EQ(code(backend.name.c_str(), "auto"), ErrorCode::device_unavailable);
    }
  }
}

// All lists through a sink, for a memory limit that they would exceed.
Neighbors lists_in_blocks(const KnnIndex& index, const Table& table, const RunOptions& run) {
  Neighbors all;
  index.kneighbors(table, {}, run, [&](const Neighbors& block) {
    all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
    all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
  });
  return all;
}

TEST(Search, SmallMemoryMeansSmallerTilesThenAnError) {
  Random random(4);
  const Table table = oracle::random_table(random, {.n_rows = 2000, .n_numeric = 3});
  const Neighbors expected = KnnIndex::fit(table).kneighbors(table);
  RunOptions run;
  run.memory_limit = 90000;  // the encoded table alone needs 48,000 bytes
  const KnnIndex index = KnnIndex::fit(table, {}, run);
  SearchReport report = index.kneighbors(table, {}, run, [](const Neighbors&) {});
  EXPECT_LE(report.memory_planned, run.memory_limit);
  EXPECT_EQ(report.part_rows, 2000);
  expect_error(ErrorCode::out_of_memory, "the lists of neighbours need 176000 bytes",
               [&] { index.kneighbors(table, {}, run); });
  const Neighbors small = lists_in_blocks(index, table, run);
  EXPECT_EQ(small.indices, expected.indices);
  EXPECT_EQ(small.distances, expected.distances);
  run.memory_limit = 30000;  // less than the encoded table, which is then searched in parts
  const KnnIndex unheld = KnnIndex::fit(table, {}, run);
  report = unheld.kneighbors(table, {}, run, [](const Neighbors&) {});
  EXPECT_LE(report.memory_planned, run.memory_limit);
  EXPECT_LT(report.part_rows, 2000);
  const Neighbors parts = lists_in_blocks(unheld, table, run);
  EXPECT_EQ(parts.indices, expected.indices);
  EXPECT_EQ(parts.distances, expected.distances);
  run.memory_limit = 100;
  try {
    KnnIndex::fit(table, {}, run).kneighbors(table, {}, run);
    FAIL() << "100 bytes were enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("bytes"), std::string::npos) << error.what();
  }
}

TEST(Search, WorkSpaceCountsAgainstTheBudget) {
  Random random(4);
  const Table table = oracle::random_table(random, {.n_rows = 4, .n_numeric = 300});
  KnnOptions options;
  options.metric.name = "dtw";  // a matrix of 300 x 300 for every thread
  const KnnIndex index = KnnIndex::fit(table, options);
  RunOptions run;
  run.threads = 4;
  run.memory_limit = 1 << 20;
  const SearchReport report = index.kneighbors(table, {.n_neighbors = 2}, run, [](const Neighbors&) {});
  EXPECT_EQ(report.threads, 1);
  run.memory_limit = 1 << 19;
  expect_error(ErrorCode::out_of_memory, "the index and one query row need",
               [&] { index.kneighbors(table, {.n_neighbors = 2}, run); });
}

TEST(Search, OnTheCpuIsNoWorkForAGpu) {
  if (device::cuda_was_used()) GTEST_SKIP() << "another test had work for a GPU";
  Table table;
  table.n_rows = 3;
  table.columns = {make_numeric("x", {1.0, 2.0, 4.0})};
  RunOptions run;
  run.device = "cpu";
  EXPECT_EQ(KnnIndex::fit(table, {}, run).kneighbors(table, {.n_neighbors = 1}, run).indices,
            (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_FALSE(device::cuda_was_used());  // the automatic choice counts the start of the driver
}

}  // namespace
}  // namespace stope
