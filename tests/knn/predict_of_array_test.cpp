// Predictions for query rows in arrays (stope/knn.hpp) against those for the table of the same numbers, bit for bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "effort.hpp"
#include "knn/answers.hpp"
#include "knn/array_cases.hpp"
#include "knn/fitted.hpp"
#include "knn/search/queries.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using array_cases::ArrayCase;
using array_cases::Layout;
using array_cases::random_array;

Column classes_for(Random& random, std::int64_t n) {
  std::vector<std::int32_t> codes(static_cast<std::size_t>(n));
  for (std::int32_t& code : codes) code = static_cast<std::int32_t>(random.below(3));
  return make_nominal("class", codes, {"a", "b", "c"});
}

Column targets_for(Random& random, std::int64_t n) {
  std::vector<double> targets(static_cast<std::size_t>(n));
  for (double& target : targets) target = random.uniform();
  return make_numeric("target", targets);
}

void expect_same_classes(const Classification& ours, const Classification& theirs) {
  EXPECT_EQ(ours.classes, theirs.classes);
  EXPECT_EQ(ours.codes, theirs.codes);
  expect_same_bits(ours.confidences, theirs.confidences);
}

TEST(PredictOfArray, EveryTypeAndLayoutGivesTheBitsOfTheTable) {
  Random random(81);
  const std::int64_t n = 120, d = 3;
  const ArrayCase train = random_array(random, n, d, ElementType::float64, Layout::rows);
  const KnnIndex index = KnnIndex::fit(train.view);
  const KnnClassifier classifier = KnnClassifier::fit(index, classes_for(random, n));
  const KnnRegressor regressor = KnnRegressor::fit(index, targets_for(random, n));
  const VoteOptions vote{.n_neighbors = 7, .weights = VoteWeights::distance};
  for (int round = 0; round < repeated(120, 60); ++round) {
    const auto type = static_cast<ElementType>(round % array_cases::kElementTypes);
    const auto layout = static_cast<Layout>(round / array_cases::kElementTypes % array_cases::kLayouts);
    SCOPED_TRACE(std::string(to_string(type)) + ", layout " + std::to_string(static_cast<int>(layout)));
    const std::uint64_t most_rows = repeated(1500, 300);
    const std::int64_t n_rows = 1 + static_cast<std::int64_t>(random.below(most_rows));
    const ArrayCase query = random_array(random, n_rows, d, type, layout);
    const RunOptions run{.threads = 1 + static_cast<int>(random.below(3))};
    ASSERT_NO_FATAL_FAILURE(
        expect_same_classes(classifier.predict(query.view, vote, run), classifier.predict(query.table, vote)));
    ASSERT_NO_FATAL_FAILURE(
        expect_same_bits(regressor.predict(query.view, vote, run), regressor.predict(query.table, vote)));
    Classification blocks;
    blocks.classes = classifier.predict(query.table, vote).classes;
    classifier.predict(query.view, vote, run, [&](std::int64_t first, const Classification& block) {
      EXPECT_EQ(first, static_cast<std::int64_t>(blocks.codes.size()));
      blocks.codes.insert(blocks.codes.end(), block.codes.begin(), block.codes.end());
      blocks.confidences.insert(blocks.confidences.end(), block.confidences.begin(), block.confidences.end());
    });
    ASSERT_NO_FATAL_FAILURE(expect_same_classes(blocks, classifier.predict(query.table, vote)));
    std::vector<double> numbers;
    regressor.predict(query.view, vote, run, [&](std::int64_t first, std::span<const double> block) {
      EXPECT_EQ(first, static_cast<std::int64_t>(numbers.size()));
      numbers.insert(numbers.end(), block.begin(), block.end());
    });
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(numbers, regressor.predict(query.table, vote)));
    const std::vector<std::int64_t> ks = {1, 9};
    const std::vector<Classification> each = classifier.predict_each(query.view, ks, vote, run);
    for (std::size_t i = 0; i < ks.size(); ++i) {
      const VoteOptions one{.n_neighbors = ks[i], .weights = vote.weights};
      ASSERT_NO_FATAL_FAILURE(expect_same_classes(each[i], classifier.predict(query.table, one)));
    }
  }
}

TEST(PredictOfArray, DoublesInCOrderAreReadWhereTheyLie) {
  Random random(82);
  const KnnIndex index = KnnIndex::fit(random_array(random, 40, 3, ElementType::float64, Layout::rows).view);
  for (int layout = 0; layout < array_cases::kLayouts; ++layout) {
    for (const ElementType type : {ElementType::float64, ElementType::float32, ElementType::int64}) {
      const ArrayCase query = random_array(random, 20, 3, type, static_cast<Layout>(layout));
      const bool in_place = type == ElementType::float64 && static_cast<Layout>(layout) == Layout::rows;
      EXPECT_EQ(knn::make_query_source(index.fitted(), query.view, {})->encoded(), in_place ? query.view.data : nullptr)
          << to_string(type) << ", layout " << layout;
    }
  }
}

TEST(PredictOfArray, TheTrainingRowsAreAskedForWithoutATable) {
  Random random(83);
  const ArrayCase train = random_array(random, 90, 2, ElementType::int16, Layout::columns);
  const KnnIndex index = KnnIndex::fit(train.view);
  const KnnClassifier classifier = KnnClassifier::fit(index, classes_for(random, 90));
  const VoteOptions others{.n_neighbors = 5, .exclude_self = true};
  expect_same_classes(classifier.predict(QueryRows::of_training(), others), classifier.predict(train.table, others));
}

TEST(PredictOfArray, BadArraysAreRefusedBeforeAnythingIsMade) {
  Random random(84);
  const ArrayCase train = random_array(random, 30, 3, ElementType::float64, Layout::rows);
  const KnnIndex index = KnnIndex::fit(train.view);
  const KnnClassifier classifier = KnnClassifier::fit(index, classes_for(random, 30));
  const KnnRegressor regressor = KnnRegressor::fit(index, targets_for(random, 30));
  ArrayView wide = train.view, negative = train.view, no_data = train.view;
  wide.n_columns = 2;
  negative.n_rows = -5;
  no_data.data = nullptr;
  for (const ArrayView& bad : {wide, negative, no_data}) {
    const auto refused = [](const auto& call) {
      try {
        call();
      } catch (const Error& error) {
        return error.code() == ErrorCode::invalid_argument;
      }
      return false;
    };
    EXPECT_TRUE(refused([&] { classifier.predict(bad); }));
    EXPECT_TRUE(refused([&] { regressor.predict(bad); }));
    EXPECT_TRUE(refused([&] { classifier.predict(bad, {}, {}, [](std::int64_t, const Classification&) {}); }));
    EXPECT_TRUE(refused([&] { regressor.predict(bad, {}, {}, [](std::int64_t, std::span<const double>) {}); }));
  }
}

}  // namespace
}  // namespace stope
