// A chain gives what its steps give by hand, bit for bit; and models that do not fit behind each other are refused.
#include "stope/chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "environment.hpp"
#include "expect_error.hpp"
#include "predict/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace testing_models;

const std::vector<Model>& steps_of(const Model& model) {
  return std::get<ChainModel>(model.fitted).steps;
}

Table by_hand(const Model& chain, Table table) {
  const std::vector<Model>& steps = steps_of(chain);
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) table = Predictor(steps[i]).transform(table);
  return table;
}

std::string refusal(const std::vector<Model>& models) {
  try {
    make_chain(models);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.what();
  }
  return "";
}

testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in '" << text << "'";
}

Model scaling(const Table& table) {
  return {outline(table), Normalizer::fit(table, {.method = Normalization::z})};
}

Model tree_of(const Table& table) {
  return {outline(table), DecisionTree::fit(table, {.missing = MissingPolicy::value})};
}

TEST(Chain, ClassesAreThoseOfTheStepsByHandForAnyThreads) {
  const Model model = chain_of_cuts(200);
  const Table test = mixed_table(5000, true);
  const Classification expected = Predictor(steps_of(model).back()).classify(by_hand(model, test));
  const Predictor predictor(model);
  EXPECT_EQ(predictor.gives(), Predictor::Gives::classes);
  EXPECT_EQ(predictor.classes(), expected.classes);
  EXPECT_EQ(predictor.model().kind(), "chain");
  for (const int threads : {1, 2, 3}) {
    RunOptions run;
    run.threads = threads;
    EXPECT_EQ(predictor.classify(test, run).codes, expected.codes);
    EXPECT_EQ(predictor.classify(test, run).confidences, expected.confidences);
    std::vector<std::int32_t> codes;
    std::int64_t n_blocks = 0;
    predictor.classify(test, run, [&](std::int64_t first, const Classification& block) {
      EXPECT_EQ(first, static_cast<std::int64_t>(codes.size()));
      codes.insert(codes.end(), block.codes.begin(), block.codes.end());
      ++n_blocks;
    });
    EXPECT_GT(n_blocks, 1);
    EXPECT_EQ(codes, expected.codes);
  }
}

TEST(Chain, NumbersAndNeighboursAreThoseOfTheStepsByHandForAnyBlocks) {
  const Model model = chain_of_neighbors(60);
  const Table test = numeric_table(83);
  const Predictor predictor(model), last(steps_of(model).back());
  EXPECT_EQ(predictor.gives(), Predictor::Gives::numbers);
  const std::vector<double> expected = last.regress(by_hand(model, test));
  EXPECT_EQ(predictor.regress(test), expected);
  for (const char* tile : {"1", "7", "64"}) {
    const ForcedVariable blocks("STOPE_TILE_QUERIES", tile);
    std::vector<double> together;
    const auto report = predictor.regress(test, {}, [&](std::int64_t, std::span<const double> block) {
      together.insert(together.end(), block.begin(), block.end());
    });
    EXPECT_EQ(together, expected);
    EXPECT_TRUE(report.has_value());
  }
  const Table prepared = by_hand(model, test);
  expect_equal(predictor.prepared(test), prepared);
  expect_equal(predictor.normalized(test), last.normalized(prepared));
  EXPECT_EQ(predictor.index().n_samples(), 60);
}

TEST(Chain, AnotherVoteIsThatOfTheLastStep) {
  const Model model = chain_of_neighbors(60);
  const Table test = numeric_table(83);
  const Predictor other = Predictor(model).with_vote(5, VoteWeights::distance);
  const Predictor last = Predictor(steps_of(model).back()).with_vote(5, VoteWeights::distance);
  EXPECT_EQ(other.regress(test), last.regress(by_hand(model, test)));
  EXPECT_NE(other.regress(test), Predictor(model).with_vote(5, VoteWeights::uniform).regress(test));
  EXPECT_NE(other.regress(test), Predictor(model).with_vote(2, VoteWeights::distance).regress(test));
  EXPECT_EQ(std::get<NeighborsModel>(last_step(other.model()).fitted).n_neighbors, 5);
}

TEST(Chain, AChainOfTablesGivesATableAndKeepsLabelIdAndWeight) {
  const Table table = mixed_table(30, true);
  const Model scale = scaling(table);
  const Table scaled = Predictor(scale).transform(table);
  const CutsModel cuts{find_cuts(scaled, {.missing = MissingPolicy::value}), {.missing = MissingPolicy::value}};
  const Model model = make_chain({scale, {outline(scaled), cuts}});
  const Predictor predictor(model);
  EXPECT_EQ(predictor.gives(), Predictor::Gives::table);
  const Table test = mixed_table(50, true), result = predictor.transform(test);
  expect_equal(result, apply_cuts(Predictor(scale).transform(test), cuts.cuts, cuts.coding));
  for (const char* name : {"id", "w", "class"}) {
    const Column& before = test.columns[static_cast<std::size_t>(test.find(name))];
    const Column& after = result.columns[static_cast<std::size_t>(result.find(name))];
    EXPECT_EQ(before.role, after.role);
    for (std::int64_t row = 0; row < test.n_rows; ++row) EXPECT_EQ(bits(before.at(row)), bits(after.at(row)));
  }
}

TEST(Chain, ImputesForWhatFollows) {
  const Table table = mixed_table(40, true);
  const Model fill{outline(table), Imputer::fit(table, {.n_neighbors = 3, .indicators = Indicators::append})};
  const Table filled = Predictor(fill).transform(table);
  const Model scale = scaling(filled);
  const Table scaled = Predictor(scale).transform(filled);
  const Model tree{outline(scaled), DecisionTree::fit(scaled)};  // which takes no missing value
  const Predictor predictor(make_chain({fill, scale, tree}));
  const Table test = mixed_table(90, true);
  EXPECT_EQ(predictor.classify(test).codes,
            Predictor(tree).classify(Predictor(scale).transform(Predictor(fill).transform(test))).codes);
  const Model labels{outline(table), Imputer::fit(table, {.columns = {"x", "class"}})};
  EXPECT_TRUE(says(refusal({labels, tree_of(table)}), "(imputation) changes 'class', which is the label"));
}

TEST(Chain, AChainInAChainBecomesItsSteps) {
  const Table table = mixed_table(40, true);
  const Model scale = scaling(table);
  const Table once = Predictor(scale).transform(table);
  const Model again = scaling(once);
  const Table twice = Predictor(again).transform(once);
  const Model inner = make_chain({scale, again});
  const Model model = make_chain({inner, tree_of(twice)});
  ASSERT_EQ(steps_of(model).size(), 3U);
  EXPECT_EQ(steps_of(model)[0].kind(), "normalisation");
  EXPECT_EQ(Predictor(model).classify(mixed_table(90, true)).codes,
            Predictor(tree_of(twice)).classify(Predictor(inner).transform(mixed_table(90, true))).codes);
}

TEST(Chain, TakesANominalColumnWithoutValues) {
  Table table = mixed_table(40, true);
  table.columns.push_back(make_nominal("empty", std::vector<std::int32_t>(40, kMissingCode), {}));
  const CutsModel cuts{{{"empty", true, {}, {"red"}}}, {.missing = MissingPolicy::value}};
  const Model code{outline(table), cuts};
  const Model model = make_chain({code, tree_of(Predictor(code).transform(table))});
  EXPECT_TRUE(model.columns.columns[static_cast<std::size_t>(model.columns.find("empty"))].values.empty());
  EXPECT_EQ(Predictor(model).classify(table).codes,
            Predictor(steps_of(model).back()).classify(by_hand(model, table)).codes);
}

TEST(Chain, TakesLabelIdAndWeightFromItsLastModel) {
  Table plain = mixed_table(40, true);
  plain.columns.pop_back();              // the scaling has seen no class
  plain.columns[4].role = Role::ignore;  // and no weights
  const Model scale = scaling(plain);
  const Table table = mixed_table(40, true);
  const Model model = make_chain({scale, tree_of(Predictor(scale).transform(table))});
  const Table& columns = model.columns;
  ASSERT_GE(columns.find(Role::label), 0);
  EXPECT_EQ(columns.columns[static_cast<std::size_t>(columns.find(Role::label))].name, "class");
  EXPECT_EQ(columns.columns[static_cast<std::size_t>(columns.find("w"))].role, Role::weight);
  EXPECT_EQ(columns.columns[static_cast<std::size_t>(columns.find("x"))].role, Role::regular);
}

TEST(Chain, RefusesModelsThatDoNotFit) {
  const Table table = mixed_table(40, true);
  const Model scale = scaling(table), tree = tree_of(table);
  EXPECT_TRUE(says(refusal({scale}), "two or more"));
  EXPECT_TRUE(says(refusal({}), "two or more"));
  EXPECT_TRUE(says(refusal({tree, scale}), "step 1 (decision tree) gives no table"));
  EXPECT_TRUE(says(refusal(std::vector<Model>(65, scale)), "65 steps"));

  Table renamed = table;
  renamed.columns[3].name = "height";
  EXPECT_TRUE(says(refusal({scale, tree_of(renamed)}), "'height', which step 1 (normalisation) does not give"));
  Table nominal = table;
  nominal.columns[3] = make_nominal("y", std::vector<std::int32_t>(40, 0), {"low"});
  EXPECT_TRUE(
      says(refusal({scale, tree_of(nominal)}), "'y' as nominal values, and step 1 (normalisation) gives numbers"));

  Table labelled = numeric_table(30);  // the scaling takes x as a feature, and the last model predicts it
  const Model all = scaling(labelled);
  labelled.columns[0].role = Role::label;
  labelled.columns.back().role = Role::regular;
  const Model line{outline(labelled), LinearModel::fit(labelled, {})};
  EXPECT_TRUE(says(refusal({all, line}), "changes 'x', which is the label of the last step"));
}

TEST(Chain, RefusesStepsWhosePredictionsWouldNotBelongToTheRows) {
  const Table table = mixed_table(40, true);
  const CutSet cuts = find_cuts(table, {.missing = MissingPolicy::value});
  const Model scale = scaling(table);
  EXPECT_TRUE(says(refusal({{outline(table), CutsModel{cuts, {.missing = MissingPolicy::drop}}}, scale}), "out"));
  EXPECT_TRUE(says(refusal({{outline(table), CutsModel{cuts, {.missing = MissingPolicy::fill}}}, scale}), "gaps"));
}

TEST(Chain, APredictorTakesNoChainThatNobodyWouldMake) {
  const Model scale = scaling(mixed_table(9, true));
  Model wrong{scale.columns, ChainModel{}};
  expect_error(ErrorCode::invalid_argument, "a chain of 0 steps", [&] { Predictor{wrong}; });
  expect_error(ErrorCode::invalid_argument, "a chain without steps", [&] { last_step(wrong); });
  wrong.fitted = ChainModel{{scale, {scale.columns, ChainModel{{scale, scale}}}}};
  expect_error(ErrorCode::invalid_argument, "step 2 is a chain itself", [&] { Predictor{wrong}; });
  wrong.fitted = ChainModel{{tree_model(), scale}};
  expect_error(ErrorCode::invalid_argument, "step 1 (decision tree) gives no table", [&] { Predictor{wrong}; });
}

TEST(Chain, AMemoryLimitCountsWhatTheStepsMake) {
  const Model model = chain_of_neighbors(60);
  const Table test = numeric_table(20000);
  RunOptions run;
  run.memory_limit = 50'000'000;
  const std::vector<double> free = Predictor(model).regress(test);
  EXPECT_EQ(Predictor(model).regress(test, run), free);
  run.memory_limit = 1'000;
  try {
    Predictor(model).prepared(test, run);
    FAIL() << "1,000 bytes were enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_TRUE(says(error.what(), "step 1 (normalisation)"));
  }
}

TEST(Chain, StopsWhenItIsCancelled) {
  const Predictor predictor(chain_of_cuts(50));
  RunOptions run;
  run.cancel.cancel();
  try {
    predictor.classify(mixed_table(100, true), run);
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace stope
