// What is stored of a row: the words of its image, where its scores start, its norm, and how far rounding moved it.
#pragma once

#include "knn/cuda/tensor/images/row_sums.cuh"
#include "knn/cuda/tensor/images/tile_layout.cuh"

namespace stope::knn::cuda {

/// Two neighbouring halves of an image.
__device__ __forceinline__ std::uint32_t word_of(__half2 images) {
  return *reinterpret_cast<const std::uint32_t*>(&images);
}
__device__ __forceinline__ void store_word(__half* to, std::uint32_t word) {
  *reinterpret_cast<std::uint32_t*>(to) = word;
}

/// Where the score of a training row starts: at -|t|^2 / 2. A row without a bound starts so high that it reaches any
/// threshold. A row that does not exist starts so low that it reaches none.
struct Start {
  __half high, low;
  float value;
};
enum class RowKind { bounded, unbounded, none };

__device__ inline Start start_of(const StartPlace& place, double squares, RowKind kind) {
  if (place.bytes) {
    // Half of an odd number is rounded up; product_error allows for that.
    const int start = kind == RowKind::unbounded ? kAlwaysOfBytes
                      : kind == RowKind::none    ? kNeverOfBytes
                                                 : kByteShift - static_cast<int>(ceil(0.5 * squares));
    return {__half(0.0F), __half(0.0F), __int_as_float(start)};
  }
  // These starts are infinities.
  if (kind == RowKind::unbounded) return {__ushort_as_half(0x7c00), __half(0.0F), kAlways};
  if (kind == RowKind::none) return {__ushort_as_half(0xfc00), __half(0.0F), kNever};
  const double start = -0.5 * squares;
  const __half high = __double2half(start);
  return {high, __double2half(start - static_cast<double>(__half2float(high))), static_cast<float>(start)};
}

__device__ inline void place_start(const StartPlace& to, std::int64_t row, const Start& start) {
  if (to.column < 0) {
    to.starts[row] = start.value;
    return;
  }
  to.tiles[tile_place(row, to.column, to.width)] = start.high;
  to.tiles[tile_place(row, to.column + 1, to.width)] = start.low;
}

/// Writes the results for a row, after the lanes have gathered its parts and added them up.
template <bool kTrain>
__device__ void write_summary(const EncodeJob& job, std::int64_t row, const Gathered& sums) {
  bool bounded = sums.bounded;
  // A query and a training row share an attribute if together they have more than n present values.
  if (job.n_to_share > 0.0) {
    bounded &= kTrain ? 2.0 * sums.missing < job.n_to_share : 2.0 * sums.missing <= job.n_to_share;
  }
  const float norm = __double2float_ru((sums.squares + sums.masked) * (1.0 + 1e-9));
  if (job.bytes.factor == 0) bounded &= norm <= (kTrain ? kMostTrainNorm : kMostQueryNorm);
  if (!kTrain) job.squares[row] = sums.squares;
  job.norms[row] = norm;
  job.residuals[row] = bounded ? __double2float_ru(sqrt(sums.errors) * (1.0 + 1e-6)) : __int_as_float(0x7fffffff);
  if (!kTrain) return;
  const bool exists = row < job.first + job.n;
  const RowKind kind = !exists ? RowKind::none : bounded ? RowKind::bounded : RowKind::unbounded;
  place_start(job.start, row, start_of(job.start, sums.squares, kind));
}

}  // namespace stope::knn::cuda
