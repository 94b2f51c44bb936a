// From sums to neighbours: cuts from the distances of a sample's best rows, sharper cuts from those of a list's best
// rows, and the nearest of what is left. In between listed_pairs.hpp evaluates what was chosen.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/differences/scan.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn::cuda {

/// How a distance becomes a cut (filter/sum_bounds.hpp).
struct CutRule {
  SumBounds bounds;
  double train_residual;   ///< of any row that is not always listed; in steps where `steps` is not 0
  const float* residuals;  ///< per query; NaN: nothing is known
  bool divides;            ///< sums come with divisors
  double steps;            ///< images in bytes: a unit is so many steps; 0: images in floats
  double weight_steps;     ///< bytes: a weight of 1 adds so much to a divisor
};

/// Rows of query i: rows[i * stride + j], j < counts[i].
struct ChosenRows {
  std::int64_t n_queries;
  std::int64_t stride;
  std::int32_t* rows;
  std::int32_t* counts;
  double* distances;
};

inline constexpr int kMostGroups = 1024;

/// The rows behind the `n_wanted` best groups of each query, fewer where fewer have a row.
void launch_choose_of_groups(const GroupBests& bests, int n_wanted, const ChosenRows& chosen, cudaStream_t stream);

/// cuts[query] from the k-th smallest of the distances chosen; where there are fewer one that lists everything (if
/// lists have room for that) or nothing. reaches[query] is the distance behind the cut: kEverything, or infinity for
/// nothing, which is also the case where no bound is known.
struct CutJob {
  CutRule rule;
  int k;
  bool list_all;
  SumCut* cuts;
  double* reaches;
};
inline constexpr double kEverything = 1e300;
void launch_cuts(const CutJob& job, const ChosenRows& chosen, cudaStream_t stream);

/// Rows of the k best entries of each list.
void launch_choose_of_lists(const EntryLists& lists, bool divides, int k, const ChosenRows& chosen,
                            cudaStream_t stream);

/// The rows that the k-th smallest of the distances chosen does not rule out take their place, with those that are
/// always listed. A query is uncertified if its list or the room for its rows overflows, or if there is no reach.
struct SharpenJob {
  CutRule rule;
  int k;
  EntryLists lists;
  const double* reaches;
  const std::int32_t* always;
  std::int32_t n_always;
  Exclusions exclusions;
  std::int32_t* uncertified;
  unsigned long long* n_listed;     ///< added up
  unsigned long long* n_evaluated;  ///< added up
};
void launch_sharpen(const SharpenJob& job, const ChosenRows& chosen, cudaStream_t stream);

/// distances[query * k + i], rows[query * k + i]: the nearest of those chosen by (distance, row). Uncertain if fewer
/// than k have a distance.
struct NearestJob {
  int k;
  double* distances;
  std::int32_t* rows;
  std::int32_t* uncertified;
};
void launch_nearest(const NearestJob& job, const ChosenRows& chosen, cudaStream_t stream);

inline constexpr int kFewChosen = 512, kMostChosen = 1024;  ///< strides of ChosenRows

}  // namespace stope::knn::cuda
