// What a score proves (docs/numerics/filter.md). If k rows reach a score, a row whose score is below a certain other
// one is farther than the k-th neighbour. This is computed in double, so that only the images and the matrix units
// round noticeably.
#pragma once

#include "knn/cuda/tensor/rerank/rerank.hpp"

namespace stope::knn::cuda {

/// What the bounds of a query depend on.
struct QueryBounds {
  double square;     ///< |q - t|^2 of the images is square - 2 score, apart from `hashed`
  double residuals;  ///< the query's, plus the largest of any training row that is not always listed
  double tiny;       ///< an image distance that the reference may lose to underflow
  double shift;      ///< shift of the scans' scores
  double error;      ///< error of a score
  double hashed;     ///< how much |q - t|^2 may exceed what it seems to be
  double slack;      ///< how far the reference may be off in |q - t|^2

  /// Returns the score below which a row is farther than k others. `kth` is a score, without its shift, that k rows
  /// reach.
  __device__ float cut(double kth) const {
    if (!(kth > 0.5 * kNever)) return -__int_as_float(0x7f800000);
    const double square_of_kth = square - 2.0 * (kth - error) + hashed;
    return cut_at((sqrt(square_of_kth > 0.0 ? square_of_kth : 0.0) + residuals) * (1.0 + 1e-9) + tiny);
  }

  /// Returns the score below which a row is farther than `distance`: the distance that the images would have if no
  /// rounding had moved them. How far it may have moved them is added here.
  __device__ float cut_at(double distance) const {
    const double reach = sqrt(distance * distance + slack) + residuals;
    return __double2float_rd(0.5 * (square - reach * reach) - error - 1e-12 * (square + reach * reach));
  }
};

__device__ inline QueryBounds bounds_of(const BoundsJob& job, std::int64_t query) {
  const double norm = static_cast<double>(job.norms[query]), shift = *job.shift;
  const double largest_sum = (job.masks ? 1.0 : 0.5) * norm + job.largest_train_norm + job.nominal + shift;
  return {job.squares[query] + job.constant,
          static_cast<double>(job.residuals[query]) + job.train_residual,
          job.tiny,
          shift,
          job.accumulation * largest_sum + job.product_error,
          job.hashed,
          job.slack};
}

}  // namespace stope::knn::cuda
