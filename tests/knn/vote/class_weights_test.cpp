// Weights of classes are weights of their rows: bit for bit, alone and on top of sample weights; balanced weights are
// scikit-learn's.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using Weights = std::vector<std::pair<std::string, double>>;

Table labelled(std::int64_t n_rows, std::uint64_t seed) {
  Random random(seed);
  Table table = oracle::random_table(random, {.n_rows = n_rows, .n_numeric = 3, .n_nominal = 1, .missing = 0.1});
  std::vector<std::int32_t> codes;
  for (std::int64_t row = 0; row < n_rows; ++row)
    codes.push_back(random.below(4) == 0 ? 1 : random.below(9) == 0 ? 2 : 0);
  Column label = make_nominal("class", codes, {"a", "b", "c", "nobody"});
  label.role = Role::label;
  table.columns.push_back(label);
  return table;
}

Table with_weights(Table table, const std::vector<double>& weights) {
  Column column = make_numeric("w", weights);
  column.role = Role::weight;
  table.columns.push_back(column);
  return table;
}

void expect_same(const Classification& got, const Classification& expected) {
  EXPECT_EQ(got.codes, expected.codes);
  ASSERT_EQ(got.confidences.size(), expected.confidences.size());
  for (std::size_t i = 0; i < got.confidences.size(); ++i) {
    ASSERT_TRUE(got.confidences[i] == expected.confidences[i] ||
                (std::isnan(got.confidences[i]) && std::isnan(expected.confidences[i])));
  }
}

TEST(ClassWeights, OfAnUnknownClassAreRefusedWithTheFirstEightNames) {
  Table train;
  train.n_rows = 9;
  train.columns = {make_numeric("x", {1, 2, 3, 4, 5, 6, 7, 8, 9}),
                   make_nominal("class", {0, 1, 2, 3, 4, 5, 6, 7, 8}, {"a", "b", "c", "d", "e", "f", "g", "h", "i"})};
  train.columns[1].role = Role::label;
  const auto fit = [&] { KnnClassifier::fit(train, {.class_weights = {{"nobody", 2.0}}}); };
  expect_error(ErrorCode::invalid_argument,
               "no class is called 'nobody'; there are 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ...", fit);
}

TEST(ClassWeights, AreWeightsOfTheRowsBitForBit) {
  const Table train = labelled(90, 1), test = labelled(40, 2);
  const Column& label = train.columns.back();
  const std::vector<double> of_class = {1.0, 2.5, 0.3, 1.0};
  for (const bool weighed : {false, true}) {
    std::vector<double> rows, products;
    for (std::int64_t row = 0; row < 90; ++row) {
      rows.push_back(weighed ? 0.5 + static_cast<double>(row % 3) : 1.0);
      products.push_back(rows.back() * of_class[static_cast<std::size_t>(label.codes()[row])]);
    }
    for (const VoteWeights weights : {VoteWeights::uniform, VoteWeights::distance}) {
      const VoteOptions vote{.n_neighbors = 7, .weights = weights};
      const KnnOptions by_class{.metric = {"gower", {}}, .class_weights = {{"b", 2.5}, {"c", 0.3}}};
      const Classification expected =
          KnnClassifier::fit(with_weights(train, products), {.metric = {"gower", {}}}).predict(test, vote);
      expect_same(KnnClassifier::fit(weighed ? with_weights(train, rows) : train, by_class).predict(test, vote),
                  expected);
      // The index carries the options to labels that are fitted later.
      const KnnIndex index = KnnIndex::fit(train, by_class);
      expect_same(KnnClassifier::fit(index, label, weighed ? std::span<const double>(rows) : std::span<const double>())
                      .predict(test, vote),
                  expected);
    }
  }
}

TEST(ClassWeights, BalancedAreRowsByClassesAndRowsOfTheClass) {
  const Table train = labelled(90, 3), test = labelled(40, 4);
  std::vector<double> counts(4, 0.0);
  for (const std::int32_t code : train.columns.back().codes()) counts[static_cast<std::size_t>(code)] += 1.0;
  Weights weights;
  const char* const names[] = {"a", "b", "c"};
  for (std::size_t c = 0; c < 3; ++c) weights.emplace_back(names[c], 90.0 / (3.0 * counts[c]));  // nobody has no row
  expect_same(KnnClassifier::fit(train, {.balanced = true}).predict(test),
              KnnClassifier::fit(train, {.class_weights = weights}).predict(test));
}

TEST(ClassWeights, AClassOfWeightZeroNeverWins) {
  const Table train = labelled(60, 5);
  const Classification found =
      KnnClassifier::fit(train, {.class_weights = {{"a", 0.0}}}).predict(train, {.n_neighbors = 3});
  for (const std::int32_t code : found.codes) EXPECT_NE(code, 0);
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(ClassWeights, ThatMeanNothingAreRefusedInWords) {
  const Table train = labelled(20, 6);
  const auto fit = [&](const KnnOptions& options) { return refusal([&] { KnnClassifier::fit(train, options); }); };
  EXPECT_NE(fit({.class_weights = {{"d", 1.0}}}).find("no class is called 'd'"), std::string::npos);
  EXPECT_NE(fit({.class_weights = {{"a", -1.0}}}).find("the weight of 'a' is -1"), std::string::npos);
  EXPECT_NE(fit({.class_weights = {{"a", std::nan("")}}}).find("missing"), std::string::npos);
  EXPECT_NE(fit({.class_weights = {{"a", INFINITY}}}).find("finite"), std::string::npos);
  EXPECT_NE(fit({.class_weights = {{"a", 1.0}, {"a", 2.0}}}).find("two weights"), std::string::npos);
  EXPECT_NE(fit({.class_weights = {{"a", 1.0}}, .balanced = true}).find("not both"), std::string::npos);
  EXPECT_NE(fit({.compat = Compat::rapidminer, .balanced = true}).find("RapidMiner"), std::string::npos);
  Table numbers = train;
  numbers.columns.back() = make_numeric("class", std::vector<double>(20, 1.0));
  numbers.columns.back().role = Role::label;
  EXPECT_NE(refusal([&] { KnnRegressor::fit(numbers, {.balanced = true}); }).find("no classes"), std::string::npos);
  EXPECT_NE(refusal([&] {
              KnnClassifier::fit(with_weights(train, std::vector<double>(20, 1e300)),
                                 {.class_weights = {{"a", 1e300}}});
            }).find("infinite"),
            std::string::npos);
}

}  // namespace
}  // namespace stope
