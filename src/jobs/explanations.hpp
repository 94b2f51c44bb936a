// What decided the predictions of a model, as a table.
#pragma once

#include "stope/predictor.hpp"

namespace stope::jobs {

/// k-NN: one row per query, neighbour and attribute, the `n_attributes` with the largest shares of the distance: "row",
/// "pos", "train_index", "prediction" and "train_label" (where there is a label), "distance", "weight", "vote_share",
/// "attribute", "term", "attribute_share". One row per neighbour without an attribute where the measure does not come
/// apart or the distance is 0. Trees: "row", "prediction", "rule", "because". Least squares: "row", "prediction",
/// "attribute" (missing: the intercept), "contribution". Throws invalid_argument for other models.
Table explanations(const Predictor& predictor, const Table& rows, std::int64_t n_attributes, const RunOptions& run);

}  // namespace stope::jobs
