// Rounds of permutations for GPUs (discretize/permuted_classes.hpp).
#include "discretize/permuted_classes.hpp"

#include <algorithm>

#include "discretize/cuda_abi.hpp"
#include "discretize/permuted_memory.hpp"

namespace stope::discretize {

PermutedClasses::PermutedClasses(const DecisionProblem& problem, const PresentClasses& classes,
                                 std::int64_t n_permutations, std::uint64_t seed, std::int64_t round_bytes,
                                 const CancelToken& cancel)
    : n_rows_(problem.n_rows),
      left_(n_permutations),
      most_(std::clamp(round_bytes / problem.n_rows / kPermutationsOfWarp * kPermutationsOfWarp, kPermutationsOfWarp,
                       cuda_abi::kMostPermutations)),
      cancel_(cancel),
      number_(problem.class_totals.size()),
      shuffler_(problem, seed),
      labels_(static_cast<std::size_t>(n_permutations > 0 ? problem.n_rows : 0)) {
  for (std::size_t k = 0; k < classes.original.size(); ++k) number_[classes.original[k]] = static_cast<std::uint8_t>(k);
}

void PermutedClasses::next() {
  in_round_ = std::min(most_, left_);
  left_ -= in_round_;
  bytes_.resize(static_cast<std::size_t>(in_round_ * n_rows_));
  auto to = bytes_.begin();
  for (std::int64_t j = 0; j < in_round_; ++j) {
    cancel_.check();
    shuffler_.next(labels_.data(), totals_);
    to = std::transform(labels_.begin(), labels_.end(), to,
                        [&](std::int32_t k) { return number_[static_cast<std::size_t>(k)]; });
  }
}

}  // namespace stope::discretize
