// The host's half of votes on GPUs: what it tells the plug-in, and where the plug-in's predictions go. The plug-in's
// half is src/knn/cuda/votes.hpp.
#pragma once

#include <cstdint>

#include "knn/engine/pipeline.hpp"
#include "knn/vote/ballot.hpp"
#include "knn/vote/vote_abi.hpp"

namespace stope::knn {

/// Returns the ballot as the plug-in takes it; the result points into the ballot.
cuda_abi::Vote vote_of(const Ballot& ballot, const cuda_abi::VotersOnGpu* voters);

/// Bytes on a GPU for the votes of the training rows and for the predictions of `n_batches` batches.
std::int64_t vote_bytes(const Ballot& ballot, std::int64_t batch_queries, std::int64_t n_batches);

/// Makes room for the predictions of a block that go to the outcome; no query has a list.
void shape_outcome(const Ballot& ballot, const QueryBlock& block, Outcome& outcome);

/// Puts the predictions of queries [begin, begin + n) of a block where the ballot wants them, or into the outcome.
struct Predicted {
  const std::int32_t* winners;  ///< laid out as in an answer of the plug-in
  const double* values;
  std::int64_t begin, n;
};
void put_predictions(const Ballot& ballot, const Predicted& predicted, Outcome& outcome);

/// Adds the list of a query of the block; call sort_lists() when all lists are there.
void add_list(std::int64_t query, std::vector<Neighbor> list, Outcome& outcome);
void sort_lists(Outcome& outcome);

}  // namespace stope::knn
