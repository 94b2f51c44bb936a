// RapidMiner's normalisation beyond the golden runs: constants, missing values, short columns, column order.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "stope/normalize.hpp"

namespace stope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

std::vector<double> normalized(const std::vector<double>& values, Normalization method, double min = 0.0,
                               double max = 1.0) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(values.size());
  table.columns = {make_numeric("v", values)};
  const Table result = Normalizer::fit(table, {method, min, max, Compat::rapidminer}).apply(table);
  std::vector<double> out;
  for (std::int64_t row = 0; row < result.n_rows; ++row) out.push_back(result.columns[0].at(row));
  return out;
}

void expect_values(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(actual[i])) << "row " << i << " is " << actual[i];
    } else {
      EXPECT_EQ(actual[i], expected[i]) << "row " << i;
    }
  }
}

TEST(RapidMinerZ, OnePassVarianceInRowOrder) {
  // sum 16, squares 90: (90 - 16 * 16 / 4) / 3 = 26/3.
  const double deviation = std::sqrt(26.0 / 3.0);
  expect_values(normalized({1.0, 3.0, kNaN, 4.0, 8.0}, Normalization::z),
                {-3.0 / deviation, -1.0 / deviation, kNaN, 0.0, 4.0 / deviation});
  // The one-pass formula loses 1e9 + {0, 1, 2} completely; RapidMiner then gives 0.
  expect_values(normalized({1e9, 1e9 + 1, 1e9 + 2}, Normalization::z), {0.0, 0.0, 0.0});
}

TEST(RapidMinerZ, NoVarianceMakesEveryRowZeroMissingOnesToo) {
  expect_values(normalized({5.0, kNaN, 5.0}, Normalization::z), {0.0, 0.0, 0.0});
  expect_values(normalized({5.0}, Normalization::z), {0.0});
  expect_values(normalized({5.0, kNaN}, Normalization::z), {0.0, 0.0});
}

TEST(RapidMinerRange, ConstantIsClampedIntoTheRange) {
  expect_values(normalized({7.0, kNaN, 7.0}, Normalization::range), {1.0, 1.0, 1.0});
  expect_values(normalized({-7.0, -7.0}, Normalization::range), {0.0, 0.0});
  expect_values(normalized({0.25, 0.25}, Normalization::range), {0.25, 0.25});
  expect_values(normalized({1.0, 2.0}, Normalization::range, 3.0, 3.0), {3.0, 3.0});
}

TEST(RapidMinerRange, MissingIsSkippedElsewhere) {
  expect_values(normalized({2.0, kNaN, 6.0, 3.0}, Normalization::range, -1.0, 3.0), {-1.0, kNaN, 3.0, 0.0});
}

TEST(RapidMinerProportion, OneMissingValuePoisonsTheColumn) {
  expect_values(normalized({1.0, 3.0, 4.0}, Normalization::proportion), {0.125, 0.375, 0.5});
  expect_values(normalized({1.0, kNaN, 4.0}, Normalization::proportion), {kNaN, kNaN, kNaN});
  expect_values(normalized({-2.0, 2.0}, Normalization::proportion), {-kInf, kInf});
}

TEST(RapidMinerInterquartile, PositionsCountMissingRowsAtTheEnd) {
  // n = 5: q1 at (int)(6 * 0.25 - 1) = 0, q3 at (int)(6 * 0.75 - 1) = 3, median at 2.
  const double scale = (4.0 - 1.0) / 1.349;
  expect_values(normalized({5.0, 1.0, 3.0, 2.0, 4.0}, Normalization::interquartile),
                {2.0 / scale, -2.0 / scale, 0.0, -1.0 / scale, 1.0 / scale});
  // One of the five is missing: the positions are the same in 1 2 4 5 NaN.
  const double with_missing = (5.0 - 1.0) / 1.349;
  expect_values(normalized({5.0, 1.0, kNaN, 2.0, 4.0}, Normalization::interquartile),
                {1.0 / with_missing, -3.0 / with_missing, kNaN, -2.0 / with_missing, 0.0});
  // Two missing values move q3 among them.
  expect_values(normalized({5.0, kNaN, kNaN, 2.0, 4.0}, Normalization::interquartile), {kNaN, kNaN, kNaN, kNaN, kNaN});
}

TEST(RapidMinerInterquartile, EvenLengthsAverageTheMiddleTwo) {
  // n = 4: q1 at 0, q3 at 2; median (2 + 3) / 2.
  const double scale = (3.0 - 1.0) / 1.349;
  expect_values(normalized({1.0, 2.0, 3.0, 9.0}, Normalization::interquartile),
                {-1.5 / scale, -0.5 / scale, 0.5 / scale, 6.5 / scale});
}

TEST(RapidMinerInterquartile, NoDistanceMakesEveryRowZero) {
  expect_values(normalized({3.0, 3.0, 3.0, 3.0, 10.0}, Normalization::interquartile), {0.0, 0.0, 0.0, 0.0, 0.0});
  expect_values(normalized({3.0}, Normalization::interquartile), {0.0});
}

TEST(RapidMinerNormalize, AColumnWithoutRowsIsNoError) {
  for (const Normalization method :
       {Normalization::range, Normalization::z, Normalization::proportion, Normalization::interquartile}) {
    expect_values(normalized({}, method), {});
  }
}

TEST(RapidMinerNormalize, NumericFeaturesFirstThenTheOthersThenTheRest) {
  Table table;
  table.n_rows = 2;
  table.columns = {make_nominal("label", {0, 1}, {"x", "y"}),
                   make_nominal("n1", {0, 1}, {"x", "y"}),
                   make_numeric("i", {1.0, 2.0}, ValueType::integer),
                   make_numeric("id", {1.0, 2.0}),
                   make_numeric("day", {1.0, 2.0}, ValueType::date),
                   make_nominal("n2", {0, 1}, {"x", "y"}),
                   make_numeric("r", {1.0, 3.0})};
  table.columns[0].role = Role::label;
  table.columns[3].role = Role::id;
  const Table result = Normalizer::fit(table, {Normalization::range, 0.0, 1.0, Compat::rapidminer}).apply(table);
  std::vector<std::string> names;
  for (const Column& column : result.columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"i", "r", "n1", "day", "n2", "label", "id"}));
  EXPECT_EQ(result.columns[0].type, ValueType::real);
  EXPECT_EQ(result.columns[0].at(1), 1.0);
  EXPECT_EQ(result.columns[3].type, ValueType::date) << "a date is no numeric attribute for RapidMiner";
  EXPECT_EQ(result.columns[3].at(1), 2.0);
}

}  // namespace
}  // namespace stope
