#include "discretize/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "discretize/permuted_labels.hpp"

#include "stope/error.hpp"

namespace stope::discretize {
namespace {

const double kNan = std::nan("");

Table small_table() {
  Table table;
  table.n_rows = 5;
  table.source = "small.csv";
  table.columns = {make_numeric("x", {1.0, kNan, 3.0, 4.0, 4.0}),
                   make_nominal("y", {0, 1, 0, 1, 0}, {"a", "b", "never"}),
                   make_nominal("s", {1, 1, -1, 0, 0}, {"u", "v"}), make_numeric("w", {1.0, 0.5, 0.0, 2.0, 0x1.0p-20})};
  table.columns[1].role = Role::label;
  table.columns[3].role = Role::ignore;
  return table;
}

ErrorCode code_of(const Table& table, MissingPolicy policy, const std::string& words) {
  try {
    make_problem(table, policy);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown: " << words;
  return ErrorCode::internal;
}

TEST(Problem, MissingValuesAreValuesOfTheirOwn) {
  const DecisionProblem problem = make_problem(small_table(), MissingPolicy::value);
  EXPECT_EQ(problem.n_rows, 5);
  EXPECT_EQ(problem.target, "y");
  EXPECT_EQ(problem.classes, (std::vector<std::string>{"a", "b", "never"}));
  EXPECT_EQ(problem.class_totals, (std::vector<std::int64_t>{3, 2, 0}));
  EXPECT_EQ(problem.total, 5);
  EXPECT_FALSE(problem.pure());
  ASSERT_EQ(problem.n_attributes(), 2);
  EXPECT_FALSE(problem.attributes[0].symbolic);
  EXPECT_TRUE(problem.attributes[0].has_missing);
  EXPECT_EQ(problem.attributes[1].column, 2);
  EXPECT_EQ(problem.attributes[1].values, (std::vector<std::string>{"u", "v", "?"}));
  const std::int32_t* codes = problem.attributes[1].codes();
  EXPECT_EQ(std::vector<std::int32_t>(codes, codes + 5), (std::vector<std::int32_t>{1, 1, 2, 0, 0}));
}

TEST(Problem, DropLeavesOutRowsAndFillPutsMeansAndModes) {
  const DecisionProblem dropped = make_problem(small_table(), MissingPolicy::drop);
  EXPECT_EQ(dropped.rows, (std::vector<std::int64_t>{0, 3, 4}));
  EXPECT_EQ(dropped.n_rows, 3);
  EXPECT_EQ(dropped.class_totals, (std::vector<std::int64_t>{2, 1, 0}));
  EXPECT_EQ(dropped.attributes[1].values.size(), 2U);

  const DecisionProblem filled = make_problem(small_table(), MissingPolicy::fill);
  EXPECT_EQ(filled.fills[0].number, 3.0);
  EXPECT_EQ(filled.fills[1].code, 0);  // u and v are equally frequent
  EXPECT_FALSE(filled.attributes[0].has_missing);
  filled.attributes[0].with_numbers([](const auto* x) { EXPECT_EQ(static_cast<double>(x[1]), 3.0); });
  EXPECT_EQ(filled.attributes[1].codes()[2], 0);
}

TEST(Problem, WeightsAreCountedInUnitsAndRowsOfWeightZeroAreLeftOut) {
  Table table = small_table();
  table.columns[3].role = Role::weight;
  const DecisionProblem problem = make_problem(table, MissingPolicy::value);
  EXPECT_EQ(problem.rows, (std::vector<std::int64_t>{0, 1, 3, 4}));
  EXPECT_EQ(problem.weights, (std::vector<std::int64_t>{1 << 20, 1 << 19, 1 << 21, 1}));
  EXPECT_EQ(problem.class_totals[0], (1 << 20) + 1);
  EXPECT_EQ(problem.weight(1), 1 << 19);
}

TEST(Problem, WhatCannotBeUsedIsRefusedWithItsPlace) {
  Table table = small_table();
  EXPECT_EQ(code_of(table, MissingPolicy::error, "small.csv: column 'x', row 1: a missing value"),
            ErrorCode::invalid_data);
  Table no_label = table;
  no_label.columns[1].role = Role::regular;
  EXPECT_EQ(code_of(no_label, MissingPolicy::value, "small.csv: which column is the label?"),
            ErrorCode::invalid_argument);
  Table numeric = table;
  numeric.columns[1].role = Role::regular;
  numeric.columns[0].role = Role::label;
  EXPECT_EQ(code_of(numeric, MissingPolicy::value, "'x' is numeric"), ErrorCode::invalid_argument);
  Table missing_label = table;
  missing_label.columns[1] = make_nominal("y", {0, 1, -1, 1, 0}, {"a", "b"});
  missing_label.columns[1].role = Role::label;
  EXPECT_EQ(code_of(missing_label, MissingPolicy::value, "row 2: the label is missing"), ErrorCode::invalid_data);
  missing_label.columns[1] = make_nominal("y", {0, 1, 0, 1, -1}, {"a", "b"});
  missing_label.columns[1].role = Role::label;
  EXPECT_EQ(code_of(missing_label, MissingPolicy::drop, "row 4: the label is missing"),
            ErrorCode::invalid_data);  // one of 0, 3, 4
  for (const double weight : {-1.0, kNan, 0x1.0p43}) {
    Table weighted = table;
    weighted.columns[3] = make_numeric("w", {1.0, weight, 1.0, 1.0, 1.0});
    weighted.columns[3].role = Role::weight;
    EXPECT_EQ(code_of(weighted, MissingPolicy::value, "'w', row 1"), ErrorCode::invalid_data);
  }
  Table nothing = table;
  nothing.columns[0] = make_numeric("x", {kNan, kNan, kNan, kNan, kNan});
  EXPECT_EQ(code_of(nothing, MissingPolicy::drop, "no row remains"), ErrorCode::invalid_data);
  EXPECT_EQ(make_problem(nothing, MissingPolicy::fill).fills[0].number, std::nullopt);
}

// Another thread checks the names of a wide table.
TEST(Problem, RepeatedNamesAreReportedFirst) {
  for (const int n_columns : {3, 6000}) {
    Table table;
    table.n_rows = 2;
    for (int c = 0; c < n_columns; ++c) table.columns.push_back(make_numeric("x" + std::to_string(c), {1.0, kNan}));
    table.columns.back().name = "x1";  // nor is there a label
    EXPECT_EQ(code_of(table, MissingPolicy::error, "two columns are named 'x1'"), ErrorCode::invalid_argument);
    for (const int threads : {1, 3}) {
      RunOptions run;
      run.threads = threads;
      EXPECT_THROW(make_problem(table, MissingPolicy::value, run, Target::unused), Error);
      table.columns.back().name = "x";
      EXPECT_EQ(make_problem(table, MissingPolicy::value, run, Target::unused).n_attributes(), n_columns);
      table.columns.back().name = "x1";
    }
  }
}

TEST(LabelShuffler, EveryOrderOfTheLabelsComesUpTheTrueOneToo) {
  Table table;
  table.n_rows = 3;
  table.columns = {make_numeric("x", {1.0, 2.0, 3.0}), make_nominal("y", {0, 1, 2}, {"a", "b", "c"})};
  table.columns[1].role = Role::label;
  const DecisionProblem problem = make_problem(table, MissingPolicy::value);
  LabelShuffler shuffler(problem, 1);
  std::set<std::vector<std::int32_t>> orders;
  for (int i = 0; i < 200; ++i) {
    std::vector<std::int32_t> labels(3);
    std::vector<std::int64_t> totals;
    shuffler.next(labels.data(), totals);
    EXPECT_EQ(totals, problem.class_totals);
    orders.insert(labels);
  }
  EXPECT_EQ(orders.size(), 6U);
}

}  // namespace
}  // namespace stope::discretize
