// What a score proves (docs/numerics/filter.md): from a score that the k-th best reaches to the one below which a row
// is farther than the k-th neighbour. In double, so that only the images and the matrix units round noticeably.
#pragma once

#include "knn/cuda/filter_select.hpp"

namespace stope::knn::cuda {

/// What the bounds of a query depend on.
struct QueryBounds {
  double square;     ///< |q - t|^2 of images is square - 2 score, but for `hashed`
  double residuals;  ///< of the query and of any training row that is not always listed
  double tiny;       ///< an image distance that the reference may lose to underflow
  double shift;      ///< of the scans' scores
  double error;      ///< of a score
  double hashed;     ///< by so much may |q - t|^2 be more than it seems
  double slack;      ///< by so much may the reference be off in it

  /// `kth`: what the score, without its shift, is at least for k rows. A row is farther than k others if its score is
  /// below this.
  __device__ float cut(double kth) const {
    if (!(kth > 0.5 * kNever)) return -__int_as_float(0x7f800000);
    const double square_of_kth = square - 2.0 * (kth - error) + hashed;
    const double distance = (sqrt(square_of_kth > 0.0 ? square_of_kth : 0.0) + residuals) * (1.0 + 1e-9) + tiny;
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
          kAccumulation * (job.width + 2) * largest_sum + job.product_error,
          job.hashed,
          job.slack};
}

/// Floats as integers in the same order.
__device__ __forceinline__ unsigned key_of(float value) {
  const unsigned bits = __float_as_uint(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
__device__ __forceinline__ float of_key(unsigned key) {
  return __uint_as_float((key >> 31) != 0 ? key & 0x7fffffffU : ~key);
}

/// The sum over the warp's lanes.
__device__ __forceinline__ unsigned sum_of_lanes(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0U, value);
#else
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  return value;
#endif
}

/// The k-th largest key that the warp's lanes hold (`count(key)`: how many of this lane's are at least `key`); 0 if
/// there are fewer. Only the leading `bits` are looked for: the result is at most the k-th largest.
template <class Count>
__device__ unsigned kth_largest(int k, int bits, const Count& count) {
  unsigned found = 0;
  for (int bit = 31; bit >= 32 - bits; --bit) {
    const unsigned trial = found | (1U << bit);
    if (sum_of_lanes(count(trial)) >= static_cast<unsigned>(k)) found = trial;
  }
  return found;
}

}  // namespace stope::knn::cuda
