// Explained predictions of k-NN: which training rows voted, with which weight, and what each attribute contributes to
// their distances. Predictor::explain() makes them. Trees have a rule for every row (stope/tree_format.hpp), and least
// squares a contribution of every coefficient (LinearModel::contributions).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stope/knn.hpp"
#include "stope/values.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// A neighbour, and its vote.
struct NeighborVote {
  std::int64_t train_index = 0;  ///< row of the training table
  double distance = 0.0;
  double weight = 0.0;  ///< of its vote: by distance, times the weights of row and class; NaN without a label
  double share = 0.0;   ///< of all weights; NaN where they add up to 0, and without a label
};

/// What decided one row. Where it stands in the votes' order, vote i has terms[i * n_features .. (i + 1) * n_features).
struct RowExplanation {
  std::int64_t row = 0;
  std::int32_t code = -1;  ///< classifier: the predicted class, an index into its classes; -1 for none
  double number = 0.0;     ///< regressor: the predicted number
  std::vector<NeighborVote> votes;
  /// One term per attribute, in the order of explained_features(): they add up to what terms_add_up_to() says, but for
  /// rounding. An attribute that the measure skips because a value is missing has the term 0. Empty for a measure that
  /// has no terms.
  std::vector<double> terms;
};

/// Receives the explanations of consecutive rows.
using ExplanationSink = std::function<void(const RowExplanation&)>;

/// The names of the attributes that an index compares: its features without those of weight 0, in column order.
std::vector<std::string> explained_features(const KnnIndex& index);

/// What the terms of a distance add up to, as a formula of it: "distance", "distance^2", "1 - cos(distance)" ... Empty
/// for a measure that does not come apart into attributes: a similarity, a kernel, time warping.
std::string terms_add_up_to(const KnnIndex& index);

/// The attributes of one neighbour with their shares of the distance, largest first; equal ones in column order. A
/// share is a term divided by the sum of all; where they add up to 0, or not to a number, there are none. Some measures
/// have terms below 0, and so shares below 0 and above 1.
struct AttributeShare {
  std::int64_t feature = 0;  ///< index into explained_features()
  double term = 0.0;
  double share = 0.0;
};
std::vector<AttributeShare> attribute_shares(const RowExplanation& explanation, std::int64_t vote);

}  // namespace stope
#pragma GCC visibility pop
