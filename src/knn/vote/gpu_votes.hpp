// Votes on GPUs, the host's half: what the plug-in is told, and where its predictions go. Its half is
// src/knn/cuda/votes.hpp.
#pragma once

#include <cstdint>

#include "knn/engine/pipeline.hpp"
#include "knn/vote/ballot.hpp"
#include "knn/vote/vote_abi.hpp"

namespace stope::knn {

/// As the plug-in takes it; points into the ballot.
cuda_abi::Vote vote_of(const Ballot& ballot);

/// Bytes on a GPU for what the training rows vote with, and for the predictions of `n_batches` batches.
std::int64_t vote_bytes(const Ballot& ballot, std::int64_t batch_queries, std::int64_t n_batches);

/// Room for the predictions of a block, as far as they go there; no query has a list.
void shape_outcome(const Ballot& ballot, const QueryBlock& block, Outcome& outcome);

/// Puts predictions of queries [begin, begin + n) of a block where the ballot wants them, or into the outcome.
struct Predicted {
  const std::int32_t* winners;  ///< as an answer of the plug-in has them
  const double* values;
  std::int64_t begin, n;
};
void put_predictions(const Ballot& ballot, const Predicted& predicted, Outcome& outcome);

/// Adds the list of a query of the block; sort_lists() when all are there.
void add_list(std::int64_t query, std::vector<Neighbor> list, Outcome& outcome);
void sort_lists(Outcome& outcome);

}  // namespace stope::knn
