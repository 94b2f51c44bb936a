// What is filled in, and into what: roles, types, values, ties, fallbacks, reports; and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "impute/impute_cases.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/impute.hpp"

namespace stope {
namespace {

using namespace testing_impute;

TEST(Impute, LabelIdAndWeightStayMissingUnlessTheyAreNamed) {
  Table table = small();
  table.columns[2].role = Role::label;
  EXPECT_EQ(Imputer::fit(table).columns(), (std::vector<std::string>{"x", "s"}));
  EXPECT_TRUE(Imputer::fit(table).apply(table).columns[2].missing(1));
  const Imputer named = Imputer::fit(table, {.columns = {"y"}});
  const Table filled = named.apply(table);
  EXPECT_FALSE(filled.columns[2].missing(1));
  EXPECT_EQ(filled.columns[2].role, Role::label);
  EXPECT_TRUE(filled.columns[0].missing(2)) << "only the named column is filled";
  Table without = table;
  without.columns.pop_back();
  EXPECT_EQ(named.apply(without).columns.size(), 2U) << "a label that is not there is no mistake";
}

TEST(Impute, EqualVotesAndEqualDistancesAreSettledByOrder) {
  Table table;
  table.n_rows = 5;
  table.columns = {make_numeric("x", {0, 1, 1, -1, -1}),
                   make_nominal("s", {kMissingCode, 1, 0, 2, 1}, {"first", "second", "third"})};
  const Filled two = fill(Imputer::fit(table, {.n_neighbors = 2}), table);
  EXPECT_EQ(two.cells[0].donors, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(two.cells[0].value, 0.0);
  EXPECT_EQ(fill(Imputer::fit(table, {.n_neighbors = 4}), table).cells[0].value, 1.0);
}

TEST(Impute, DonorsAtDistanceZeroShareAllTheWeight) {
  Table table;
  table.n_rows = 4;
  table.columns = {make_numeric("x", {1, 1, 1, 5}), make_numeric("y", {kNaN, 2, 4, 100})};
  EXPECT_EQ(Imputer::fit(table, {.weights = VoteWeights::distance}).apply(table).columns[1].at(0), 3.0);
}

TEST(Impute, TinyDistancesAndHugeValuesDoNotOverflow) {
  Table table;
  table.n_rows = 4;
  table.columns = {make_numeric("x", {0, 6e-309, -6e-309, 6e-309}),
                   make_numeric("y", {kNaN, 1.5e308, 1.5e308, 1.5e308})};
  const ImputeOptions options{.weights = VoteWeights::distance, .metric = {.name = "manhattan"}};
  EXPECT_NEAR(Imputer::fit(table, options).apply(table).columns[1].at(0) / 1.5e308, 1.0, 1e-12);
}

TEST(Impute, RowsWithoutADonorGetTheColumnsFallback) {
  Table table;
  table.n_rows = 5;
  table.columns = {make_numeric("x", {1, 2, 4, 9, kNaN}), make_numeric("y", {1, 2, 3, 4, kNaN}),
                   make_nominal("s", {1, 1, 0, 0, kMissingCode}, {"a", "b"})};
  const Filled mean = fill(Imputer::fit(table), table);
  EXPECT_EQ(mean.table.columns[0].at(4), 4.0);
  EXPECT_EQ(mean.table.columns[2].at(4), 0.0) << "of equally frequent values the first";
  EXPECT_EQ(mean.report.columns[0].n_fallback, 1);
  EXPECT_TRUE(mean.cells[0].donors.empty());
  const Filled median = fill(Imputer::fit(table, {.strategy = ImputeStrategy::median}), table);
  EXPECT_EQ(median.table.columns[0].at(4), 3.0);
}

TEST(Impute, DonorsAtAnInfiniteDistanceWeighNothing) {
  Table table;
  table.n_rows = 3;
  table.columns = {make_numeric("x", {1e200, -1e200, -1e200}), make_numeric("y", {kNaN, 2, 4})};
  const Filled by_distance = fill(Imputer::fit(table, {.n_neighbors = 1, .weights = VoteWeights::distance}), table);
  EXPECT_EQ(by_distance.cells[0].value, 3.0) << "the mean of the column";
  EXPECT_EQ(by_distance.report.columns[1].n_fallback, 1);
  EXPECT_EQ(fill(Imputer::fit(table, {.n_neighbors = 1}), table).cells[0].value, 2.0);
}

TEST(Impute, InfinitiesDonateAndOppositeOnesLeaveTheValueMissing) {
  const double inf = HUGE_VAL;
  Table table;
  table.n_rows = 5;
  table.columns = {make_numeric("x", {0, 1, 2, 3, 4}), make_numeric("y", {kNaN, inf, inf, -inf, 7})};
  EXPECT_EQ(fill(Imputer::fit(table, {.n_neighbors = 2}), table).cells[0].value, inf);
  const Filled opposite = fill(Imputer::fit(table, {.n_neighbors = 3}), table);
  EXPECT_TRUE(opposite.table.columns[1].missing(0));
  EXPECT_EQ(opposite.report.columns[1].n_left, 1);
  const ImputeOptions median{.n_neighbors = 4, .strategy = ImputeStrategy::median};
  EXPECT_EQ(fill(Imputer::fit(table, median), table).cells[0].value, inf);
}

TEST(Impute, ColumnsWithoutAnyValueStayMissingWithAWarning) {
  Table table = small();
  table.columns.push_back(make_numeric("none", {kNaN, kNaN, kNaN, kNaN}));
  table.columns.push_back(make_nominal("nothing", {-1, -1, -1, -1}, Values{}));
  std::string code, text;
  RunOptions run;
  run.warn = [&](std::string_view c, std::string_view t) {
    code = c;
    text = t;
  };
  ImputeReport report;
  const Table filled = Imputer::fit(table).apply(table, run, &report);
  EXPECT_EQ(code, "left_missing");
  EXPECT_NE(text.find("8 values of 2 columns ('none'"), std::string::npos) << text;
  EXPECT_EQ(report.columns[3].n_left, 4);
  EXPECT_TRUE(filled.columns[3].missing(0));
  EXPECT_FALSE(filled.columns[0].missing(2));
}

TEST(Impute, ATableOfOneRowDonatesToOthers) {
  Table train;
  train.n_rows = 1;
  train.columns = {make_numeric("x", {1}), make_numeric("y", {7})};
  Table other;
  other.n_rows = 2;
  other.columns = {make_numeric("y", {kNaN, kNaN}), make_numeric("x", {5, kNaN})};
  const Table filled = Imputer::fit(train).apply(other);
  EXPECT_EQ(filled.columns[0].at(0), 7.0);
  EXPECT_EQ(filled.columns[0].at(1), 7.0);
  EXPECT_EQ(filled.columns[1].at(1), 1.0);
}

TEST(Impute, NominalValuesAreMatchedByNameAndNewOnesAreAppended) {
  Table train;
  train.n_rows = 3;
  train.columns = {make_numeric("x", {0, 1, 2}), make_nominal("s", {0, 1, 1}, {"red", "blue"})};
  Table other;
  other.n_rows = 3;
  other.columns = {make_numeric("x", {0, 2, 1}), make_nominal("s", {-1, -1, 0}, {"green"})};
  const Table filled = Imputer::fit(train, {.n_neighbors = 1}).apply(other);
  EXPECT_EQ(filled.columns[1].values, Values({"green", "red", "blue"}));
  EXPECT_EQ(filled.columns[1].at(0), 1.0);
  EXPECT_EQ(filled.columns[1].at(1), 2.0);
  EXPECT_EQ(filled.columns[1].at(2), 0.0);
}

TEST(Impute, IntegersAndDatesStayWhatTheyAreWhereTheyCan) {
  Table table;
  table.n_rows = 4;
  table.columns = {make_numeric("x", {0, 1, 2, 3}), make_numeric("whole", {2, 4, kNaN, 6}, ValueType::integer),
                   make_numeric("half", {1, 2, kNaN, 4}, ValueType::integer),
                   make_numeric("day", {1, 2, kNaN, 4}, ValueType::date)};
  const Table two = Imputer::fit(table, {.n_neighbors = 3}).apply(table);
  EXPECT_EQ(two.columns[1].type, ValueType::integer);
  EXPECT_EQ(two.columns[1].at(2), 4.0);
  EXPECT_EQ(two.columns[2].type, ValueType::real);
  EXPECT_EQ(two.columns[3].type, ValueType::date);
  EXPECT_EQ(two.columns[3].at(2), 2.0);
}

TEST(Impute, SinglesStaySingles) {
  Table table = small();
  Buffer<float> singles(4);
  for (std::int64_t i = 0; i < 4; ++i) singles[i] = i == 1 ? std::nanf("") : 0.1F * static_cast<float>(i);
  table.columns[0] = column_of("x", singles);
  const Table filled = Imputer::fit(table, {.n_neighbors = 2}).apply(table);
  ASSERT_TRUE(std::holds_alternative<Buffer<float>>(filled.columns[0].data));
  EXPECT_FALSE(filled.columns[0].missing(1));
  EXPECT_TRUE(std::isnan(singles[1])) << "the given column changed";
}

TEST(Impute, IndicatorsSayWhatWasMissing) {
  const Table table = small();
  const Imputer imputer = Imputer::fit(table, {.indicators = Indicators::append});
  const Table filled = imputer.apply(table);
  ASSERT_EQ(filled.columns.size(), 6U);
  EXPECT_EQ(filled.columns[3].name, "missing(x)");
  EXPECT_EQ(filled.columns[3].at(2), 1.0);
  EXPECT_EQ(filled.columns[4].at(2), 0.0);
  Table complete = filled.take({0});
  complete.columns.resize(3);
  EXPECT_EQ(imputer.apply(complete).columns.size(), 6U) << "the columns do not depend on the table";
  Table clash = table;
  clash.columns.push_back(make_numeric("missing(x)", {1, 2, 3, 4}));
  try {
    Imputer::fit(clash, {.indicators = Indicators::append}).apply(clash);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data);
    EXPECT_STREQ(error.what(), "column 'missing(x)' has the name of an indicator");
    EXPECT_EQ(error.row(), -1);
  }
}

TEST(Impute, TheReportCountsDonorsAndDistances) {
  const Table table = small();
  ImputeReport report;
  Imputer::fit(table, {.n_neighbors = 2}).apply(table, {}, &report);
  EXPECT_EQ(report.n_rows, 4);
  EXPECT_EQ(report.n_incomplete, 3);
  ASSERT_EQ(report.columns.size(), 3U);
  EXPECT_EQ(report.columns[0].name, "x");
  EXPECT_EQ(report.columns[0].n_missing, 1);
  EXPECT_EQ(report.columns[0].n_filled, 1);
  EXPECT_EQ(report.columns[0].mean_donors, 2.0);
  EXPECT_NE(to_json(report).find("\"columns\":{\"x\":{\"missing\":1"), std::string::npos) << to_json(report);
  EXPECT_NE(to_text(report).find("3 of 4 rows"), std::string::npos) << to_text(report);
}

// The words that a mistake is told, and the option that it names.
void expect_refused(ErrorCode code, const std::string& word, const Table& table, const ImputeOptions& options) {
  try {
    Imputer::fit(table, options).apply(table);
    FAIL() << "nothing was refused: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Impute, MistakesAreRefusedInWords) {
  const Table table = small();
  expect_refused(ErrorCode::invalid_argument, "k = 0", table, {.n_neighbors = 0});
  expect_refused(ErrorCode::unsupported, "mahalanobis gives no distance where a value is missing", table,
                 {.metric = {.name = "mahalanobis"}});
  expect_refused(ErrorCode::invalid_argument, "did you mean 'nan-euclidean'", table,
                 {.metric = {.name = "nan-euclid"}});
  expect_refused(ErrorCode::invalid_argument, "there is no column 'z' to fill", table, {.columns = {"z"}});
  expect_refused(ErrorCode::unsupported, "'s'", table, {.metric = {.name = "manhattan"}});
  expect_refused(ErrorCode::invalid_argument, "weight", table, {.feature_weights = {1.0}});
  Table numbers = table;
  numbers.columns.erase(numbers.columns.begin() + 1);
  expect_refused(ErrorCode::invalid_argument, "weights by distance", numbers,
                 {.weights = VoteWeights::distance, .metric = {.name = "inner-product"}});
  const Imputer imputer = Imputer::fit(table);
  Table lacks = table;
  lacks.columns.pop_back();
  expect_error(ErrorCode::invalid_data, "the table has no column 'y'", [&] { imputer.apply(lacks); });
  Table mistyped = table;
  mistyped.columns[1] = make_numeric("s", {1, 2, 3, 4});
  expect_error(ErrorCode::invalid_data, "the attribute 's' is numeric here and nominal in the training table",
               [&] { imputer.apply(mistyped); });
  expect_error(ErrorCode::invalid_argument, "the imputer has not been fitted", [&] { Imputer().apply(table); });
  expect_error(ErrorCode::invalid_data, "the training table has no rows", [&] { Imputer::fit(table.take({})); });
}

TEST(Impute, ProgressReachesItsTotalAndCancellingStops) {
  Random random(31);
  const Table table = oracle::random_table(random, {.n_rows = 3000, .n_numeric = 10, .missing = 0.1});
  const Imputer imputer = Imputer::fit(table);
  std::int64_t first = -1, last = 0, total = 0;
  bool told_images = false;
  RunOptions run;
  run.device = "cpu";  // its filter has a phase before the search
  run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t all) {
    EXPECT_NE(phase, "search") << "the search is a part of the phase 'impute'";
    if (phase == "images") told_images = true;
    if (phase != "impute") return;
    if (first < 0) first = done;
    EXPECT_GE(done, last);
    last = done;
    total = all;
  };
  ImputeReport report;
  imputer.apply(table, run, &report);
  EXPECT_EQ(told_images, report.search.method.starts_with("filter")) << report.search.method;
  EXPECT_LT(first, report.n_incomplete);
  EXPECT_EQ(last, report.n_incomplete);
  EXPECT_EQ(total, report.n_incomplete);
  RunOptions stopped;
  stopped.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { imputer.apply(table, stopped); });
}

}  // namespace
}  // namespace stope
