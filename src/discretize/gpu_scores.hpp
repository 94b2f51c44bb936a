// A criterion as the border to the plug-in names it, and what its table of logarithms takes of a GPU's memory.
#pragma once

#include <cstdint>

#include "discretize/cuda_abi.hpp"
#include "discretize/score.hpp"
#include "stope/discretize.hpp"

namespace stope::discretize {

constexpr cuda_abi::Score score_of(Criterion criterion) {
  switch (criterion) {
    case Criterion::gini: return cuda_abi::Score::gini;
    case Criterion::entropy: return cuda_abi::Score::entropy;
    default: return cuda_abi::Score::pairs;
  }
}

/// The table of cuda/gains.hpp.
constexpr std::int64_t information_bytes(std::int64_t n_rows, cuda_abi::Score score) {
  return score == cuda_abi::Score::entropy && n_rows <= kMostInformation ? (n_rows + 1) * 8 : 0;
}

}  // namespace stope::discretize
