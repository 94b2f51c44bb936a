// What the kernels between a scan and its answer share: a warp for each query, rows appended in their order, cuts.
#pragma once

#include "knn/cuda/differences/select.hpp"
#include "knn/cuda/differences/sinks.cuh"

namespace stope::knn::cuda {

inline constexpr int kWarps = 4;  ///< of a block of threads
inline constexpr double kNoDistance = __builtin_inf();

inline unsigned blocks_for(std::int64_t n_queries) {
  return static_cast<unsigned>((n_queries + kWarps - 1) / kWarps);
}

__device__ inline std::int64_t query_of_warp() {
  return static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
}
__device__ inline int lane_of_thread() {
  return static_cast<int>(threadIdx.x) % 32;
}

/// Appends `row` of the lanes where `kept`, and returns how many rows there are then. At most `most` are written.
__device__ inline int append(bool kept, std::int32_t row, std::int32_t* rows, int n, int most) {
  const unsigned all = __ballot_sync(~0U, kept);
  const int at = n + __popc(all & ((1U << lane_of_thread()) - 1U));
  if (kept && at < most) rows[at] = row;
  return n + __popc(all);
}

/// Returns the cut behind which rows are farther than `reach`. It lists nothing if no bound is known.
__device__ inline SumCut cut_of(const CutRule& rule, std::int64_t query, double reach) {
  constexpr SumCut kNothing{0.0F, -kNoScore};
  constexpr float kMostSum = 1e37F;  // far from the range of a float
  constexpr float kMostSteps = 0.25F * kByteNever;
  const auto residual = static_cast<double>(rule.residuals[query]) + rule.train_residual;
  if (!(reach < kNoDistance) || !(residual >= 0.0)) return kNothing;
  if (reach >= kEverything) return {0.0F, rule.steps == 0.0 ? kMostSum : kMostSteps};
  SumCut cut{};
  if (rule.steps == 0.0) {
    const SumBounds::Limit limit = rule.bounds.float_limit(reach, residual);
    // Where nothing is missing, the weight compared is that of all attributes.
    const double fixed = rule.divides ? 0.0 : limit.alpha * rule.bounds.total_weight;
    cut = {rule.divides ? round_up(limit.alpha) : 0.0F, round_up(fixed + limit.beta)};
    return cut.beta < kMostSum && cut.alpha < kMostSum ? cut : kNothing;
  }
  // Sums in steps are exact. This factor covers the float arithmetic of the comparison.
  constexpr double kWider = 1.0 + 1e-6;
  const SumBounds::Limit limit = rule.bounds.limit(reach, residual / rule.steps);
  const double fixed = rule.divides ? 0.0 : limit.alpha * rule.bounds.total_weight;
  const double alpha = rule.divides ? limit.alpha * rule.steps / rule.weight_steps : 0.0;
  cut = {round_up(alpha * kWider), round_up((fixed + limit.beta) * rule.steps * kWider + 1.0)};
  return cut.beta < kMostSteps && cut.alpha < 1e20F ? cut : kNothing;
}

}  // namespace stope::knn::cuda
