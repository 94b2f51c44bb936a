// How the rows whose images are made are shared among threads, what a lane gathers of its rows, and how the lanes of a
// row add it up (encode.cu, plain_images.cu).
#pragma once

#include <cuda_fp16.h>

#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

inline constexpr int kRowsOfLane = 4;  ///< rows of a lane at once, which share the look at a column
inline constexpr int kEncodeThreads = 256;

/// Blocks of threads that make images, of which `lanes` lanes share kRowsOfLane rows.
inline unsigned encode_blocks(const EncodeJob& job, int lanes) {
  constexpr std::int64_t kMostBlocks = 4096;
  const std::int64_t rows_of_block = kEncodeThreads / lanes * kRowsOfLane;
  const std::int64_t blocks = (job.n_padded - job.first + rows_of_block - 1) / rows_of_block;
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}

/// Relative rounding error of a subtraction and a multiplication in double.
inline constexpr double kDoubleRounding = 0x1p-50;
/// A number beyond this has no bound anyway: a half, or its square, would be near the largest value, and a byte far
/// off.
inline constexpr double kMostImage = 200.0;

/// What a lane has gathered of a row.
struct Gathered {
  double errors = 0.0;   // squared: how far rounding moved the numbers
  double squares = 0.0;  // squares of the numbers that are not masked
  double masked = 0.0;   // squares of the masked numbers
  double missing = 0.0;  // number of missing attributes
  bool bounded = true;
};

/// Returns the sum over the kLanes lanes that share a row.
template <int kLanes>
__device__ double row_sum(double value) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

/// What a lane has gathered of a row whose image is plain. It gathers in floats, which are made and added ten times as
/// fast as doubles. The sum of squares is in two floats, so that none of it is lost.
struct PlainSums {
  float errors = 0.0F;  // squared, rounded a little; infinite: the row has no bound
  float squares = 0.0F, rest = 0.0F;

  /// Returns the image of a number, and 0 for one that has none.
  __device__ __half add(double value, double centre, double scale) {
    const auto scaled = static_cast<float>((value - centre) * scale);
    const bool has_image = fabsf(scaled) <= static_cast<float>(kMostImage);  // false for NaN
    const float exact = has_image ? scaled : 0.0F;
    const __half image = __float2half(exact);
    const float rounded = __half2float(image);
    // The second term covers the roundings to a float and before.
    const float error = fabsf(exact - rounded) + (0x1p-23F * fabsf(exact) + 0x1p-126F);
    errors = has_image ? errors + error * error : __int_as_float(0x7f800000);
    const float square = rounded * rounded, sum = squares + square;  // the square is exact
    const float added = sum - squares;
    rest += (squares - (sum - added)) + (square - added);
    squares = sum;
    return image;
  }
};

/// What a lane has gathered of a row whose image is in bytes. The sum of squares, at most 2^14 a column, is exact.
struct ByteSums {
  float errors = 0.0F;  // squared, rounded a little; infinite: the row has no bound
  int squares = 0;

  __device__ int add(double value, double centre, const ByteSteps& steps) {
    const double exact = (value - centre) * steps.scale;
    if (!(fabs(exact) <= kMostImage)) {  // true for NaN, too
      errors = __int_as_float(0x7f800000);
      return 0;
    }
    const int image = max(min(__double2int_rn(exact), steps.most), steps.least);
    // A double can hold this many whole steps from a centre exactly, however far that is from 0
    // (knn/filter/byte_grid.hpp). So a value on a whole step has no error at all.
    if (centre + static_cast<double>(image) * steps.step != value) {
      const double error = fabs(exact - static_cast<double>(image)) + kDoubleRounding * fabs(exact);
      const float rounded = fmaxf(__double2float_ru(error), 1e-18F);  // so large that its square is not subnormal
      errors += rounded * rounded;
    }
    squares += image * image;
    return image;
  }
};

/// Adds up kRowsOfLane sums over the kLanes lanes that share a row. Each lane gets one of them, that of step_of_lane().
/// This takes half the exchanges of giving all sums to all lanes.
template <int kLanes, class T>
__device__ T shared_sum(const T (&values)[kRowsOfLane]) {
  static_assert(kRowsOfLane == 4);
  const bool upper = (threadIdx.x & (kLanes / 2)) != 0, odd = (threadIdx.x & (kLanes / 4)) != 0;
  T two[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    two[i] = upper ? values[2 + i] : values[i];
    two[i] += __shfl_xor_sync(~0U, upper ? values[i] : values[2 + i], kLanes / 2);
  }
  T sum = odd ? two[1] : two[0];
  sum += __shfl_xor_sync(~0U, odd ? two[0] : two[1], kLanes / 4);
#pragma unroll
  for (int offset = kLanes / 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0U, sum, offset);
  return sum;
}

template <int kLanes>
__device__ int step_of_lane() {
  return static_cast<int>(threadIdx.x) % kLanes / (kLanes / kRowsOfLane);
}

/// Adds up what all lanes have gathered of the row of step_of_lane().
template <int kLanes>
__device__ Gathered add_up(const Gathered (&gathered)[kRowsOfLane]) {
  double parts[5][kRowsOfLane];
#pragma unroll
  for (int s = 0; s < kRowsOfLane; ++s) {
    parts[0][s] = gathered[s].errors;
    parts[1][s] = gathered[s].squares;
    parts[2][s] = gathered[s].masked;
    parts[3][s] = gathered[s].missing;
    parts[4][s] = gathered[s].bounded ? 0.0 : 1.0;
  }
  return {shared_sum<kLanes>(parts[0]), shared_sum<kLanes>(parts[1]), shared_sum<kLanes>(parts[2]),
          shared_sum<kLanes>(parts[3]), shared_sum<kLanes>(parts[4]) == 0.0};
}

template <int kLanes>
__device__ Gathered add_up(const PlainSums (&gathered)[kRowsOfLane]) {
  float errors[kRowsOfLane];
  double squares[kRowsOfLane];
#pragma unroll
  for (int s = 0; s < kRowsOfLane; ++s) {
    errors[s] = gathered[s].errors;
    squares[s] = static_cast<double>(gathered[s].squares) + static_cast<double>(gathered[s].rest);
  }
  const float sum = shared_sum<kLanes>(errors);
  // This covers up to kMostWidth / 32 + 5 roundings of a sum of squares, and what they lose to underflow.
  const double widened = static_cast<double>(sum) * (1.0 + 1e-5) + 1e-40;
  return {widened, shared_sum<kLanes>(squares), 0.0, 0.0, sum < __int_as_float(0x7f800000)};
}

template <int kLanes>
__device__ Gathered add_up(const ByteSums (&gathered)[kRowsOfLane]) {
  float errors[kRowsOfLane];
  int squares[kRowsOfLane];
#pragma unroll
  for (int s = 0; s < kRowsOfLane; ++s) {
    errors[s] = gathered[s].errors;
    squares[s] = gathered[s].squares;
  }
  const float sum = shared_sum<kLanes>(errors);
  // As above, but without underflow: whole steps have no error.
  return {static_cast<double>(sum) * (1.0 + 1e-5), static_cast<double>(shared_sum<kLanes>(squares)), 0.0, 0.0,
          sum < __int_as_float(0x7f800000)};
}

}  // namespace stope::knn::cuda
