// The cut of a query. If scores belong to different rows, the k-th best score bounds the k-th distance.
#pragma once

#include "knn/cuda/tensor/rerank/bounds.cuh"
#include "knn/cuda/tensor/rerank/rerank.hpp"
#include "knn/cuda/tensor/rerank/team.cuh"

namespace stope::knn::cuda {

/// Returns a score as a key for kth_largest. Scores that prove something are positive. A row that is always listed
/// proves nothing about its distance.
__device__ __forceinline__ int key_of(float score) {
  return score > 0.0F && score < 0.5F * kAlways ? __float_as_int(score) : 0;
}

/// Returns the score, shifted as scores are, below which a row is farther than k others. `kth` is the key of the k-th
/// best.
__device__ inline float cut_of(const QueryBounds& bounds, int kth) {
  if (kth == 0) return -__int_as_float(0x7f800000);
  const double unshifted = static_cast<double>(__int_as_float(kth)) - bounds.shift;
  // This rounds down: a cut that is too low keeps more rows.
  return __double2float_rd(static_cast<double>(bounds.cut(unshifted)) + bounds.shift);
}

/// Returns the cut that a list proves, complete or not.
template <class Team>
__device__ float cut_of_list(Team& team, const QueryBounds& bounds, int key_step, int k, const ListedGroup* list,
                             int n) {
  const ListedGroup* const own = list + team.thread();
  return cut_of(bounds, kth_largest(team, k, key_step, n, [&](int i) { return key_of(own[i].score); }));
}

}  // namespace stope::knn::cuda
