// A few queries that read all rows where they lie: every selection, on sizes that straddle tasks and groups of rows,
// has the reference's lists.
#include "knn/engine/direct_scan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "knn/filter/filter_cases.hpp"
#include "oracle/random_table.hpp"

namespace stope {
namespace {

using oracle::TableShape;

// The same rows on the reference and, by one to three threads, on the back end that the machine has.
void expect_the_references_lists(const Case& c) {
  const KnnIndex index = KnnIndex::fit(c.train, c.knn);
  Neighbors expected;
  {
    const Forced forced("reference", "", "", 128, 0);
    expected = answer(c, index, {});
  }
  RunOptions run;
  run.device = "cpu";
  for (const int threads : {1, 3}) {
    run.threads = threads;
    const KnnIndex fresh = KnnIndex::fit(c.train, c.knn);  // one that no search has prepared
    expect_same(answer(c, fresh, run), expected);
  }
}

Case random_case(Random& random, TableShape shape, std::int64_t n_queries, const std::string& metric) {
  Case c;
  c.train = oracle::random_table(random, shape);
  shape.n_rows = n_queries;
  c.query = oracle::random_table(random, shape);
  c.knn.metric.name = metric;
  c.search.n_neighbors = std::min<std::int64_t>(5, c.train.n_rows);
  return c;
}

TEST(DirectScan, HasTheReferencesListsWhateverTheSizes) {
  Random random(1);
  for (const std::int64_t n_rows : {1, 15, 16, 17, 255, 257, 5000, 16384, 16385, 40000}) {
    for (const int n_columns : {1, 2, 3, 8, 9}) {
      for (const std::int64_t n_queries : {1, 3, 5}) {
        if (n_rows > 5000 && n_columns > 3) continue;
        SCOPED_TRACE(std::to_string(n_rows) + " x " + std::to_string(n_queries) + " x " + std::to_string(n_columns));
        expect_the_references_lists(
            random_case(random, {.n_rows = n_rows, .n_numeric = n_columns}, n_queries, "euclidean"));
      }
    }
  }
}

TEST(DirectScan, HasTheReferencesListsForEveryKindOfValue) {
  Random random(2);
  for (const TableShape::Values values : {TableShape::Values::few, TableShape::Values::wild}) {
    for (const double missing : {0.0, 0.2}) {
      for (const char* metric : {"euclidean", "sqeuclidean", "manhattan", "chebyshev", "mixed-euclidean"}) {
        SCOPED_TRACE(std::string(metric) + ", missing " + std::to_string(missing));
        expect_the_references_lists(
            random_case(random, {.n_rows = 3000, .n_numeric = 3, .missing = missing, .values = values}, 2, metric));
      }
    }
  }
}

// A query that lacks a value, or has an infinite one, among rows that are all finite.
TEST(DirectScan, TakesQueriesThatAreNoNumbers) {
  Random random(3);
  for (const double odd : {std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    Case c = random_case(random, {.n_rows = 700, .n_numeric = 3}, 1, "euclidean");
    c.query = table_of({{odd}, {0.5}, {0.25}});
    expect_the_references_lists(c);
    c.knn.metric.name = "mixed-euclidean";
    expect_the_references_lists(c);
  }
}

TEST(DirectScan, LeavesOutWhatIsExcluded) {
  Random random(4);
  Case c = random_case(random, {.n_rows = 900, .n_numeric = 2, .values = TableShape::Values::few}, 2, "euclidean");
  std::vector<std::int32_t> train_groups, query_groups;
  for (std::int64_t i = 0; i < c.train.n_rows; ++i) train_groups.push_back(static_cast<std::int32_t>(i % 3));
  const Values names{"a", "b", "c"};
  c.search.exclude_train = make_nominal("group", train_groups, names);
  c.search.exclude_query = make_nominal("group", {0, 2}, names);
  c.search.n_neighbors = 700;  // more than the groups leave
  expect_the_references_lists(c);
}

TEST(DirectScan, FindsAllRowsWithinARadius) {
  Random random(5);
  for (const double radius : {0.0, 0.05, 0.7}) {
    Case c = random_case(random, {.n_rows = 20'000, .n_numeric = 2}, 2, "euclidean");
    c.radius = radius;
    expect_the_references_lists(c);
  }
}

}  // namespace
}  // namespace stope
