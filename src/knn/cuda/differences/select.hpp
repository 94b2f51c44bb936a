// From sums to neighbours. The distances of a sample's best rows give cuts, those of a list's best rows give sharper
// cuts, and the nearest of what is left are the answer. Between these steps listed_pairs.hpp evaluates what was chosen.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/differences/scan.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn::cuda {

/// How a distance becomes a cut (filter/sum_bounds.hpp).
struct CutRule {
  SumBounds bounds;
  double train_residual;   ///< bound for every row that is not always listed; in steps unless `steps` is 0
  const float* residuals;  ///< per query; NaN: no bound is known
  bool divides;            ///< sums come with divisors
  double steps;            ///< steps in a unit of the images, which are bytes; 0: images are floats
  double weight_steps;     ///< bytes: what a weight of 1 adds to a divisor
};

/// Query i has the rows rows[i * stride + j], j < counts[i].
struct ChosenRows {
  std::int64_t n_queries;
  std::int64_t stride;
  std::int32_t* rows;
  std::int32_t* counts;
  double* distances;
};

inline constexpr int kMostGroups = 1024;

/// Chooses the rows of the `n_wanted` best groups of each query, or fewer if fewer groups have a row.
void launch_choose_of_groups(const GroupBests& bests, int n_wanted, const ChosenRows& chosen, cudaStream_t stream);

/// Computes cuts[query] from `within` if that is finite, else from the k-th smallest distance of the chosen rows. If
/// there are fewer than k, the cut lists everything (if lists have room for that) or nothing. reaches[query] is the
/// distance behind the cut: kEverything if it lists everything, infinity if it lists nothing. It also lists nothing if
/// no bound is known.
struct CutJob {
  CutRule rule;
  int k;
  bool list_all;
  double within;
  SumCut* cuts;
  double* reaches;
};
inline constexpr double kEverything = 1e300;
void launch_cuts(const CutJob& job, const ChosenRows& chosen, cudaStream_t stream);

/// Chooses the rows of the k best entries of each list.
void launch_choose_of_lists(const EntryLists& lists, bool divides, int k, const ChosenRows& chosen,
                            cudaStream_t stream);

/// Replaces the chosen rows by those that the k-th smallest of their distances does not rule out, and those that are
/// always listed. A query is uncertified if its list overflows, if its rows do not fit, or if it has no reach.
struct SharpenJob {
  CutRule rule;
  int k;
  EntryLists lists;
  const double* reaches;
  const std::int32_t* always;
  std::int32_t n_always;
  Exclusions exclusions;
  std::int32_t* uncertified;
  unsigned long long* n_listed;     ///< the kernel adds to it
  unsigned long long* n_evaluated;  ///< the kernel adds to it
};
void launch_sharpen(const SharpenJob& job, const ChosenRows& chosen, cudaStream_t stream);

/// Writes distances[query * k + i] and rows[query * k + i]: the nearest of the chosen rows by (distance, row). A query
/// is uncertified if fewer than k rows have a distance, unless it may have fewer: kNoFilterRow follows them then.
struct NearestJob {
  int k;
  bool may_have_fewer;
  double* distances;
  std::int32_t* rows;
  std::int32_t* uncertified;
};
void launch_nearest(const NearestJob& job, const ChosenRows& chosen, cudaStream_t stream);

inline constexpr int kFewChosen = 512, kMostChosen = 1024;  ///< strides of ChosenRows

}  // namespace stope::knn::cuda
