// The votes' part of the border to the CUDA plug-in (knn/cuda_abi.hpp).
#pragma once

#include <cstdint>

#include "knn/vote/rule.hpp"

namespace stope::knn::cuda_abi {

struct VotersOnGpu;  // knn/cuda_abi.hpp

/// Asks for a prediction for each of n_ks neighbour numbers, none above the batch's k. A query whose list has a
/// neighbour without a weight is uncertified. `ks` is read before the call returns.
struct Vote {
  VoteRule rule;
  std::int32_t unused;
  const std::int64_t* ks;
  std::int64_t n_ks;
  const VotersOnGpu* voters;  ///< on the GPU that searches, of all its training rows
};

}  // namespace stope::knn::cuda_abi
