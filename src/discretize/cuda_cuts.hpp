// The best cuts of numeric attributes on GPUs, also under permutations of the labels. Columns come in pieces, which the
// GPUs share.
#pragma once

#include <cstdint>
#include <vector>

#include "discretize/best_cut.hpp"
#include "discretize/cuda_abi.hpp"
#include "stope/run.hpp"

namespace stope::discretize {

/// What columns come in: large enough to hide launches, small enough for copies and computation to overlap. The sort of
/// long columns wants more of them at once.
constexpr std::int64_t cut_piece_bytes(std::int64_t n_rows) {
  return std::int64_t{n_rows <= cuda_abi::kShortRows ? 4 : 16} << 20;
}

/// Returns why a GPU cannot look for the cuts, or null if it can.
const char* why_not_on_gpu(const DecisionProblem& problem, Criterion criterion, std::int64_t n_permutations);

/// Permutations of the labels that GPUs try, and what they find of the attributes that they do not leave open.
struct GpuPermutations {
  std::int64_t n = 0;  ///< 0: none
  std::uint64_t seed = 0;
  std::vector<std::int64_t> as_good = {};  ///< for each attribute: permutations in which it scored as high; else 0
  std::vector<std::int32_t> highest = {};  ///< for each permutation: the highest W of these attributes
};

/// Writes the best cuts of numeric attributes. Returns those it leaves open: symbolic ones, and those whose values
/// take too many bits. `gpu_seconds`: how long the GPUs worked, added up. Throws device_lost, device_unavailable,
/// out_of_memory, cancelled.
std::vector<std::int64_t> best_cuts_on_gpus(const DecisionProblem& problem, Criterion criterion,
                                            const std::vector<int>& gpus, const RunOptions& run,
                                            Buffer<AttributeBest>& best, GpuPermutations& permutations,
                                            double& gpu_seconds);

}  // namespace stope::discretize
