// Missing values get the values of the nearest rows that have the column: against the oracle, under every measure that
// takes missing values, whatever the threads, tiles and back ends.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"
#include "environment.hpp"
#include "impute/impute_cases.hpp"
#include "oracle/impute_oracle.hpp"
#include "oracle/random_table.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"
#include "stope/impute.hpp"

namespace stope {
namespace {

using namespace testing_impute;
using oracle::TableShape;

bool near(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) ||
         std::fabs(a - b) <= 1e-12 * std::max(std::fabs(a), std::fabs(b)) + 1e-320;
}

// Measures whose oracle rounds as the formula does, so that donors agree row by row.
bool is_exact(const std::string& metric) {
  return std::set<std::string>{"nan-euclidean", "gower", "heom", "mixed-euclidean", "hamming", "manhattan", "chebyshev"}
             .count(metric) > 0;
}

void expect_cell(const Kept& cell, const oracle::ImputedCell& expected, bool exact) {
  SCOPED_TRACE("row " + std::to_string(cell.row) + ", " + cell.column);
  if (cell.donors.empty() && !expected.donors.empty()) {  // all weigh nothing, and the fallback was taken
    EXPECT_TRUE(near(cell.value, expected.value)) << cell.value << " " << expected.value;
    return;
  }
  ASSERT_EQ(cell.donors.size(), expected.donors.size());
  for (std::size_t i = 0; i < cell.donors.size(); ++i) {
    if (exact) {
      EXPECT_EQ(cell.donors[i], expected.donors[i]);
      EXPECT_EQ(cell.distances[i], expected.distances[i]);
    } else {
      EXPECT_NEAR(cell.distances[i], expected.distances[i], 1e-9 * (1.0 + std::fabs(expected.distances[i])));
    }
  }
  if (exact || cell.donors == expected.donors) {
    EXPECT_TRUE(near(cell.value, expected.value)) << cell.value << " " << expected.value;
  }
}

// Compares every cell with the oracle, and the table with the cells.
void compare(const Table& train, const Table& table, const ImputeOptions& options) {
  const Imputer imputer = Imputer::fit(train, options);
  const Filled filled = fill(imputer, table);
  const Normalizer normalizer = Normalizer::fit(train, options.normalize);
  const Table near_train = normalizer.apply(train), near_table = normalizer.apply(table);
  std::size_t at = 0;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    for (std::int64_t c = 0; c < std::ssize(table.columns); ++c) {
      const auto place = static_cast<std::size_t>(c);
      const Column& result = filled.table.columns[place];
      if (!table.columns[place].missing(row)) {
        ASSERT_EQ(bits(result.at(row)), bits(table.columns[place].at(row))) << "a present value changed";
        continue;
      }
      ASSERT_LT(at, filled.cells.size());
      const Kept& cell = filled.cells[at++];
      ASSERT_EQ(cell.row, row);
      ASSERT_EQ(cell.column, table.columns[place].name);
      ASSERT_TRUE(near(result.at(row), cell.value));
      expect_cell(cell, oracle::impute(near_train, near_table, row, c, train.columns[place], options),
                  is_exact(options.metric.name));
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(at, filled.cells.size());
}

TEST(Donors, EveryMeasureThatTakesMissingValuesGivesTheOraclesDonors) {
  Random random(25);
  for (const MetricInfo& info : metrics()) {
    const std::string name(info.name);
    if (!info.allows_missing) continue;
    SCOPED_TRACE(name);
    for (int round = 0; round < repeated(6, 2); ++round) {
      TableShape shape{.n_rows = 20 + round * 7, .missing = 0.1 + 0.1 * (round % 3)};
      shape.n_numeric = info.accepts == Accepts::nominal ? 0 : 4;
      shape.n_nominal = info.accepts == Accepts::numeric ? 0 : 3;
      shape.values = name == "dtw" || round % 2 == 0 ? TableShape::Values::few : TableShape::Values::uniform;
      shape.binominal = round % 2 == 0;
      const Table train = oracle::random_table(random, shape);
      shape.n_rows = 9;
      ImputeOptions options{.n_neighbors = 1 + round % 6, .metric = {.name = name}};
      if (name == "minkowski") options.metric.params["p"] = "3";
      options.strategy = round % 3 == 1 ? ImputeStrategy::median : ImputeStrategy::mean;
      compare(train, train, options);
      compare(train, oracle::random_table(random, shape), options);
      if (HasFailure()) return;
    }
  }
}

TEST(Donors, MixedTablesWithWeightsAndNormalisationGiveTheOraclesValues) {
  Random random(26);
  for (int round = 0; round < repeated(40, 10); ++round) {
    SCOPED_TRACE(round);
    TableShape shape{.n_rows = 5 + static_cast<std::int64_t>(random.below(90)), .n_numeric = 3, .n_nominal = 3};
    shape.missing = 0.05 + 0.5 * random.uniform();
    shape.n_values = 2 + static_cast<int>(random.below(5));
    constexpr TableShape::Values kKinds[] = {TableShape::Values::uniform, TableShape::Values::few,
                                             TableShape::Values::bytes, TableShape::Values::both_signs};
    shape.values = kKinds[random.below(4)];
    const Table train = oracle::random_table(random, shape);
    shape.n_rows = 12;
    const Table other = oracle::random_table(random, shape);
    ImputeOptions options{.n_neighbors = 1 + static_cast<std::int64_t>(random.below(8))};
    const std::vector<std::string> measures = {"nan-euclidean", "gower", "heom", "mixed-euclidean", "hamming"};
    options.metric.name = measures[random.below(measures.size())];
    options.weights = random.below(2) == 0 ? VoteWeights::uniform : VoteWeights::distance;
    options.strategy = random.below(2) == 0 ? ImputeStrategy::mean : ImputeStrategy::median;
    options.normalize.method = random.below(2) == 0 ? Normalization::none : Normalization::range;
    if (random.below(2) == 0) {
      for (std::size_t c = 0; c < train.columns.size(); ++c) {
        options.feature_weights.push_back(0.5 * static_cast<double>(1 + random.below(6)));
      }
    }
    compare(train, train, options);
    compare(train, other, options);
    if (HasFailure()) return;
  }
}

TEST(Donors, OddNumbersAreDonatedAsTheyAre) {
  Random random(27);
  for (int round = 0; round < repeated(20, 5); ++round) {
    SCOPED_TRACE(round);
    const TableShape shape{.n_rows = 30, .n_numeric = 4, .missing = 0.2, .values = TableShape::Values::wild};
    const Table train = oracle::random_table(random, shape);
    compare(train, train, {.n_neighbors = 1 + round % 4, .metric = {.name = "manhattan"}});
    compare(train, train, {.n_neighbors = 1 + round % 4, .strategy = ImputeStrategy::median});
    if (HasFailure()) return;
  }
}

TEST(Donors, OffsetsOfAMillionDoNotChangeTheDonors) {
  Random random(28);
  const TableShape shape{.n_rows = 60, .n_numeric = 5, .missing = 0.15, .values = TableShape::Values::bytes};
  const Table table = oracle::random_table(random, shape);
  Table shifted = table;
  for (Column& column : shifted.columns) {
    std::vector<double> values;
    for (std::int64_t row = 0; row < table.n_rows; ++row) values.push_back(column.at(row) + 1e6);
    column = make_numeric(column.name, values);
  }
  const Filled plain = fill(Imputer::fit(table), table), far = fill(Imputer::fit(shifted), shifted);
  ASSERT_EQ(plain.cells.size(), far.cells.size());
  for (std::size_t i = 0; i < plain.cells.size(); ++i) {
    EXPECT_EQ(plain.cells[i].donors, far.cells[i].donors);
    EXPECT_EQ(plain.cells[i].distances, far.cells[i].distances);
    EXPECT_NEAR(plain.cells[i].value + 1e6, far.cells[i].value, 1e-9);
  }
}

void expect_same(const Filled& a, const Filled& b) {
  expect_equal(a.table, b.table);
  ASSERT_EQ(a.cells.size(), b.cells.size());
  for (std::size_t i = 0; i < a.cells.size(); ++i) {
    EXPECT_EQ(a.cells[i].donors, b.cells[i].donors);
    EXPECT_EQ(a.cells[i].distances, b.cells[i].distances);
  }
  for (std::size_t i = 0; i < a.report.columns.size(); ++i) {
    EXPECT_EQ(bits(a.report.columns[i].mean_distance), bits(b.report.columns[i].mean_distance));
    EXPECT_EQ(a.report.columns[i].n_fallback, b.report.columns[i].n_fallback);
  }
}

TEST(Donors, ThreadsTilesMemoryAndBackEndsDoNotChangeABit) {
  Random random(29);
  for (const int n_nominal : {0, 3}) {
    const TableShape shape{.n_rows = 700, .n_numeric = 20, .n_nominal = n_nominal, .missing = 0.1};
    Table table = oracle::random_table(random, shape);
    // Some rows lack x0, and so do most of those near them: their first lists are too short.
    std::vector<double> x0;
    for (std::int64_t row = 0; row < table.n_rows; ++row) {
      const bool lacks = table.columns[1].at(row) < 0.5 && random.below(3) != 0;
      x0.push_back(lacks ? kNaN : table.columns[0].at(row));
      if (table.columns[1].at(row) < 0.5) std::get<Buffer<double>>(table.columns[2].data)[row] = -9.0;
    }
    table.columns[0] = make_numeric("x0", x0);
    const ImputeOptions options{.n_neighbors = 5, .weights = VoteWeights::distance};
    RunOptions one;
    one.threads = 1;
    const Filled expected = fill(Imputer::fit(table, options), table, one);
    EXPECT_GT(expected.report.second_search, 0) << "no row needed a longer list";
    RunOptions two;
    two.threads = 2;
    expect_same(fill(Imputer::fit(table, options), table, two), expected);
    RunOptions little;
    little.memory_limit = 1 << 20;
    expect_same(fill(Imputer::fit(table, options), table, little), expected);
    for (const char* backend : {"reference", "scalar", "avx2", "avx512", "avx512vnni"}) {
      const ForcedBackend forced(backend);
      try {
        expect_same(fill(Imputer::fit(table, options), table), expected);
      } catch (const Error& error) {  // a back end that this machine lacks
        EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
      }
      if (HasFailure()) FAIL() << backend;
    }
    const ForcedVariable rows("STOPE_TILE_ROWS", "64"), queries("STOPE_TILE_QUERIES", "7");
    expect_same(fill(Imputer::fit(table, options), table), expected);
    const PartRows parts(100);
    expect_same(fill(Imputer::fit(table, options), table), expected);
  }
}

TEST(Donors, RowsWhoseNearestNeighboursAllLackTheColumnFindTheOthers) {
  // Two clusters: rows of the first lack y, but for its last three; the list that serves all columns sees none of them.
  std::vector<double> x, y;
  for (int row = 0; row < 400; ++row) {
    x.push_back(row < 200 ? 0.001 * row : 1000.0 + row);
    y.push_back(row < 197 ? kNaN : row);
  }
  Table table;
  table.n_rows = 400;
  table.columns = {make_numeric("x", x), make_numeric("z", x), make_numeric("y", y)};
  compare(table, table, {.n_neighbors = 5});
  const Filled filled = fill(Imputer::fit(table, {.n_neighbors = 3}), table);
  EXPECT_GT(filled.report.column_search, 0);
  EXPECT_EQ(filled.cells.front().donors, (std::vector<std::int64_t>{197, 198, 199}));
  EXPECT_EQ(filled.cells.front().value, 198.0);
}

TEST(Donors, ListsThatAreLongEnoughAreNotSearchedForAgain) {
  std::vector<double> x, y;
  for (int row = 0; row < 400; ++row) {
    x.push_back(row);
    y.push_back(row % 10 == 0 ? kNaN : row);
  }
  Table table;
  table.n_rows = 400;
  table.columns = {make_numeric("x", x), make_numeric("y", y)};
  const Filled filled = fill(Imputer::fit(table, {.n_neighbors = 3}), table);
  EXPECT_EQ(filled.report.columns.back().n_filled, 40);
  EXPECT_LT(filled.report.first_list, 20);
  EXPECT_EQ(filled.report.second_search, 0);
  EXPECT_EQ(filled.report.column_search, 0);
}

TEST(Donors, ColumnsThatFewRowsHaveAreSearchedForByThemselves) {
  Random random(30);
  Table table = oracle::random_table(random, {.n_rows = 300, .n_numeric = 4, .missing = 0.05});
  std::vector<double> rare(300, kNaN);
  for (const std::size_t row : {5U, 77U, 210U, 299U}) rare[row] = static_cast<double>(row);
  table.columns.push_back(make_numeric("rare", rare));
  table.columns.push_back(make_numeric("too", rare));
  compare(table, table, {.n_neighbors = 3});
  const Filled filled = fill(Imputer::fit(table, {.n_neighbors = 6}), table);
  EXPECT_EQ(filled.report.columns.back().mean_donors, 4.0);
  EXPECT_LT(filled.report.first_list, 30) << "rare columns make the lists of the others long";
}

}  // namespace
}  // namespace stope
