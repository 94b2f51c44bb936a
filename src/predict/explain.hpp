// What Predictor::explain() does for a fitted k-NN model.
#pragma once

#include "knn/vote/held_voters.hpp"
#include "stope/explain.hpp"
#include "stope/neighbors_model.hpp"

namespace stope::predict {

/// `rows` are normalised. `voters` is null where the model has no label.
SearchReport explain(const KnnIndex& index, const knn::HeldVoters* voters, const NeighborsModel& model,
                     const Table& rows, const RunOptions& run, const ExplanationSink& sink);

}  // namespace stope::predict
