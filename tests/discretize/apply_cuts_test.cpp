#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "discretize/discretize_cases.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/find_cuts.hpp"

namespace stope {
namespace {

const double kNan = std::nan("");
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Table small_table() {
  Table table;
  table.n_rows = 6;
  table.source = "small.csv";
  table.columns = {make_numeric("id", {1, 2, 3, 4, 5, 6}),
                   make_numeric("x", {-kInfinity, 0.1, 0.3, 2.5, kInfinity, kNan}),
                   make_nominal("color", {0, 1, 2, -1, 0, 1}, {"red", "green", "blue"}),
                   make_numeric("unused", {kNan, 1, 2, 3, 4, 5}), make_nominal("y", {0, 1, 0, 1, -1, 1}, {"a", "b"})};
  table.columns[0].role = Role::id;
  table.columns[4].role = Role::label;
  return table;
}

std::vector<std::string> texts(const Column& column) {
  std::vector<std::string> all;
  for (const std::int32_t code : column.codes()) all.push_back(column.values[static_cast<std::size_t>(code)]);
  return all;
}

using Texts = std::vector<std::string>;

TEST(ApplyCuts, CodesCountTheCutsThatAValueIsNotBelow) {
  const CutSet cuts = {{"x", false, {0.3, 2.5}, {}}, {"color", true, {}, {"blue", "?"}}};
  const Table coded = apply_cuts(small_table(), cuts, {MissingPolicy::value, CodeStyle::codes});
  ASSERT_EQ(coded.columns.size(), 4U);  // "unused" has no cuts
  EXPECT_EQ(coded.columns[0].role, Role::id);
  EXPECT_EQ(coded.columns[1].values, (Texts{"s1", "s2", "s3"}));
  EXPECT_EQ(texts(coded.columns[1]), (Texts{"s1", "s1", "s2", "s3", "s3", "s1"}));
  EXPECT_EQ(texts(coded.columns[2]), (Texts{"s3", "s3", "s1", "s2", "s3", "s3"}));
  EXPECT_EQ(coded.columns[3].name, "y");
  EXPECT_TRUE(coded.columns[3].missing(4));
}

TEST(ApplyCuts, LabelsSayWhatTheyStandFor) {
  const CutSet cuts = {{"x", false, {-kInfinity, 0.1, 0.30000000000000004}, {}}, {"color", true, {}, {"red", "other"}}};
  const Table coded = apply_cuts(small_table(), cuts, {MissingPolicy::value, CodeStyle::labels});
  EXPECT_EQ(coded.columns[1].values,
            (Texts{"missing", "[-inf,0.1)", "[0.1,0.30000000000000004)", "[0.30000000000000004,+inf)"}));
  EXPECT_EQ(texts(coded.columns[1])[5], "missing");
  EXPECT_EQ(texts(coded.columns[1])[0], "[-inf,0.1)");
  EXPECT_EQ(coded.columns[2].values, (Texts{"=red", "=other", "other"}));
}

TEST(ApplyCuts, LabelsReadBackAsTheSameNumbers) {
  Random random(31);
  for (int trial = 0; trial < 2000; ++trial) {
    const double cut = discretize_cases::random_number(random, trial % 2 == 0 ? 9 : 0) + 0.0;
    if (!std::isfinite(cut)) continue;
    Table table;
    table.n_rows = 1;
    table.columns = {make_numeric("x", {0.0})};
    const CutSet cuts = {{"x", false, {cut}, {}}};
    const Values labels = apply_cuts(table, cuts, {MissingPolicy::value, CodeStyle::labels}).columns[0].values;
    EXPECT_EQ(std::strtod(labels[1].c_str() + 1, nullptr), cut) << labels[1];
    EXPECT_EQ(labels[0].substr(0, 6), "(-inf,");
    EXPECT_EQ(std::strtod(labels[0].c_str() + 6, nullptr), cut) << labels[0];
  }
}

TEST(ApplyCuts, EveryRowIsInTheIntervalOfItsCode) {
  Random random(32);
  for (int trial = 0; trial < 200; ++trial) {
    discretize_cases::Shape shape;
    shape.n_rows = 50;
    shape.n_numeric = 6;
    shape.floats = trial % 2 == 0;
    const Table table = discretize_cases::random_decisions(random, shape);
    DiscretizeOptions options;
    options.missing = MissingPolicy::value;
    options.method = trial % 3 == 0 ? DiscretizeMethod::md_global : DiscretizeMethod::equal_frequency;
    const CutSet cuts = find_cuts(table, options);
    const Table coded = apply_cuts(table, cuts, {MissingPolicy::value, {}});
    for (const AttributeCuts& one : cuts) {
      const Column& from = table.columns[static_cast<std::size_t>(table.find(one.name))];
      const Column& to = coded.columns[static_cast<std::size_t>(coded.find(one.name))];
      for (std::int64_t row = 0; row < table.n_rows; ++row) {
        std::int32_t code = 0;
        for (const double cut : one.numbers) code += from.at(row) >= cut ? 1 : 0;
        ASSERT_EQ(to.codes()[row], code) << one.name << " row " << row;
      }
    }
  }
}

TEST(ApplyCuts, MissingValuesFollowThePolicy) {
  const CutSet cuts = {{"x", false, {0.3}, {}}, {"color", true, {}, {"blue"}}};
  const Table dropped = apply_cuts(small_table(), cuts, {MissingPolicy::drop, {}});
  EXPECT_EQ(dropped.n_rows, 4);  // missing values in "unused" and "y" do not matter
  EXPECT_EQ(dropped.columns[0].at(3), 5.0);
  expect_error(ErrorCode::invalid_data, "small.csv: column 'x', row 5: a missing value",
               [&] { apply_cuts(small_table(), cuts); });
  Table numbers = small_table();
  numbers.columns[1] = make_numeric("x", {1, 2, 3, 4, 5, kNan});
  const Table filled = apply_cuts(numbers, {{"x", false, {2.9, 3.1}, {}}}, {MissingPolicy::fill, {}});
  EXPECT_EQ(texts(filled.columns[1])[5], "s2");
}

TEST(ApplyCuts, WhatDoesNotFitIsRefused) {
  const auto code = [](const CutSet& cuts, const std::string& words) {
    try {
      apply_cuts(small_table(), cuts, {MissingPolicy::value, {}});
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code({{"z", false, {1}, {}}}, "small.csv: there is no column 'z'"), ErrorCode::invalid_data);
  EXPECT_EQ(code({{"color", false, {1}, {}}}, "'color' is nominal"), ErrorCode::invalid_data);
  EXPECT_EQ(code({{"x", true, {}, {"a"}}}, "'x' is numeric"), ErrorCode::invalid_data);
  EXPECT_EQ(code({{"y", true, {}, {"a"}}}, "not a feature"), ErrorCode::invalid_data);
  EXPECT_EQ(code({{"x", false, {2, 1}, {}}}, "do not ascend"), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", false, {kNan}, {}}}, "NaN"), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"color", true, {}, {"a", "a"}}}, "twice"), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{"x", false, {1}, {}}, {"x", false, {1}, {}}}, "twice"), ErrorCode::invalid_argument);
}

TEST(ApplyCuts, AValueSpelledAsMissingOnesIsRefusedBesideThem) {
  Table table;
  table.n_rows = 4;
  table.source = "marks.csv";
  table.columns = {make_nominal("c", {0, 1, -1, 0}, {"?", "red"}), make_nominal("y", {0, 1, 1, 0}, {"a", "b"})};
  table.columns[1].role = Role::label;
  const auto refused = [](const auto& job) {
    try {
      job();
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("marks.csv: column 'c', row 0: the value '?'"), std::string::npos)
          << error.what();
      return error.code() == ErrorCode::invalid_data;
    }
    return false;
  };
  for (const auto method : {DiscretizeMethod::md_global, DiscretizeMethod::equal_width}) {
    EXPECT_TRUE(refused([&] { find_cuts(table, {.method = method, .missing = MissingPolicy::value}); }));
  }
  const CutSet cuts = {{"c", true, {}, {"?"}}};
  EXPECT_TRUE(refused([&] { apply_cuts(table, cuts, {MissingPolicy::value, {}}); }));
  table.columns[0] = make_nominal("c", {1, 1, -1, 1}, {"?", "red"});  // listed, but no row has it
  EXPECT_EQ(texts(apply_cuts(table, cuts, {MissingPolicy::value, {}}).columns[0])[2], "s1");
}

}  // namespace
}  // namespace stope
