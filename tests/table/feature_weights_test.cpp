// Weights by name follow the order of the features, and wrong names are refused with their place.
#include "stope/feature_weights.hpp"

#include <gtest/gtest.h>

#include "stope/error.hpp"

namespace stope {
namespace {

Table table_of_three() {
  Table table;
  table.n_rows = 1;
  table.columns = {make_numeric("height", {1.0}), make_numeric("class", {2.0}), make_numeric("width", {3.0}),
                   make_numeric("depth", {4.0})};
  table.columns[1].role = Role::label;
  return table;
}

TEST(FeatureWeights, FollowTheOrderOfTheFeatures) {
  EXPECT_EQ(feature_names(table_of_three()), (std::vector<std::string>{"height", "width", "depth"}));
  EXPECT_EQ(feature_weights(table_of_three(), {{"depth", 0.5}, {"height", 2.0}}), (std::vector<double>{2.0, 1.0, 0.5}));
  EXPECT_EQ(feature_weights(table_of_three(), {}), (std::vector<double>{1.0, 1.0, 1.0}));
}

TEST(FeatureWeights, RefuseNamesThatAreNoFeaturesAndNamesGivenTwice) {
  const auto refused = [](const std::vector<std::pair<std::string, double>>& weights) -> Error {
    try {
      feature_weights(table_of_three(), weights);
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorCode::internal, "not refused");
  };
  const Error label = refused({{"width", 1.0}, {"class", 1.0}});
  EXPECT_EQ(label.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(label.feature(), "class");
  EXPECT_EQ(label.row(), 1);
  EXPECT_NE(std::string(refused({{"widht", 1.0}}).what()).find("'width'"), std::string::npos);
  EXPECT_NE(std::string(refused({{"depth", 1.0}, {"depth", 1.0}}).what()).find("two weights"), std::string::npos);
}

}  // namespace
}  // namespace stope
