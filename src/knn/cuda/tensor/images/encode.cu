// Rows in double precision become images in halves, whatever their columns hold; a warp makes those of a few rows at a
// time. Images of numbers only, or in bytes, have kernels of their own (plain_images.cu).
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/images/plain_images.hpp"
#include "knn/cuda/tensor/images/row_summary.cuh"

namespace stope::knn::cuda {
namespace {

using cuda_abi::ImageColumn;
using cuda_abi::ImagePart;

__device__ __half number_part(const ImageColumn& column, double value, double factor, Gathered& gathered) {
  if (isnan(value)) {
    gathered.missing += 1.0;
    gathered.bounded &= column.masked != 0;
    return __half(0.0F);
  }
  const double exact = (value - column.centre) * column.scale * factor;
  if (!(fabs(exact) <= kMostImage)) {
    gathered.bounded = false;
    return __half(0.0F);
  }
  const __half image = __double2half(exact);
  const double rounded = static_cast<double>(__half2float(image));
  const double error = fabs(exact - rounded) + kDoubleRounding * fabs(exact);
  gathered.errors += error * error;
  (column.masked != 0 ? gathered.masked : gathered.squares) += rounded * rounded;
  return image;
}

__device__ __half square_part(const ImageColumn& column, double value, bool low) {
  const double image = static_cast<double>(__half2float(__double2half((value - column.centre) * column.scale)));
  if (!(fabs(image) <= kMostImage)) return __half(0.0F);  // the value is missing, or out of bounds
  const double square = -0.5 * image * image;
  const __half high = __double2half(square);
  return low ? __double2half(square - static_cast<double>(__half2float(high))) : high;
}

__device__ __half value_part(const ImageColumn& column, double code, float factor, Gathered& gathered) {
  if (isnan(code)) {
    gathered.bounded &= column.masked != 0;
    return __half(0.0F);
  }
  // A value that the table did not have differs from every value that it has.
  if (!(code >= 0.0 && code < column.n_values)) return __half(0.0F);
  return __float2half(static_cast<std::int64_t>(code) % column.n_buckets == column.value ? factor : 0.0F);
}

template <bool kTrain>
__device__ __half image_of(const ImageColumn& column, double value, double row_factor, Gathered& gathered) {
  const float factor = kTrain ? column.train_factor : column.query_factor;
  switch (kTrain ? column.train : column.query) {
    case ImagePart::zero: break;
    case ImagePart::constant: return __float2half(factor);
    case ImagePart::number: return number_part(column, value, row_factor, gathered);
    case ImagePart::square_high: return square_part(column, value, false);
    case ImagePart::square_low: return square_part(column, value, true);
    case ImagePart::value: {
      if (kTrain && !(value >= 0.0) && !isnan(value)) gathered.bounded = false;
      return value_part(column, value, factor, gathered);
    }
    case ImagePart::present: {
      // For each attribute one column says that it is missing: a number's own column, or this one of a nominal
      // attribute.
      if (isnan(value) && column.query == column.train) gathered.missing += 1.0;
      return __float2half(isnan(value) ? 0.0F : factor);
    }
  }
  return __half(0.0F);
}

/// Returns 1 / the length of a row. If squares can overflow or vanish, the reference computes no cosine, and the row
/// has no bound. A row of zeros has no bound either: by definition its distance from all rows is 1. `values` is null if
/// there is no row.
template <int kLanes>
__device__ double unit_factor(const EncodeJob& job, const double* values, Gathered& gathered) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  double squares = 0.0, unbounded = 0.0;
  for (int c = lane; c < job.n_columns && values != nullptr; c += kLanes) {
    const ImageColumn& column = job.columns[c];
    if (column.train != ImagePart::number) continue;
    const double value = values[column.source], scaled = value * column.scale;
    unbounded += fabs(value) < 1e100 ? 0.0 : 1.0;  // 1 for NaN, too
    squares += scaled * scaled;
  }
  squares = row_sum<kLanes>(squares);
  unbounded = row_sum<kLanes>(unbounded);
  // A row with a norm of 1e-90 or more has a value above 1e-100, whatever weights a filter takes.
  if (unbounded > 0.0 || !(squares < 1e250 && squares > 1e-120)) {
    gathered.bounded = false;
    return 0.0;
  }
  // One rounding a column, relative to the row's length of 1.
  const double error = static_cast<double>(job.n_columns) * 0x1p-52;
  if (lane == 0) gathered.errors += error * error;
  return 1.0 / sqrt(squares);
}

template <bool kTrain>
struct AnyPair {
  ImageColumn columns[2];

  __device__ AnyPair(const EncodeJob& job, int column) {
#pragma unroll
    for (int i = 0; i < 2; ++i) columns[i] = column + i < job.n_columns ? job.columns[column + i] : ImageColumn{};
  }
  __device__ std::uint32_t image(const double* values, double factor, Gathered& gathered) const {
    __half images[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) images[i] = image_of<kTrain>(columns[i], values[columns[i].source], factor, gathered);
    return word_of({images[0], images[1]});
  }
};

/// A warp takes kRowsOfLane rows at a time, or twice as many if images have 32 columns. A lane has one word of each row
/// in a panel, so that a warp reads and writes whole lines.
template <bool kTrain, int kLanes>
__global__ void __launch_bounds__(kEncodeThreads) encode_kernel(const EncodeJob job) {
  constexpr int kRowsAStep = 32 / kLanes, kRows = kRowsOfLane * kRowsAStep;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, side = static_cast<int>(threadIdx.x) % 32 / kLanes;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (kEncodeThreads / 32);
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * (kEncodeThreads / 32) + threadIdx.x / 32;
  const std::int64_t end = job.first + job.n;
  for (std::int64_t group = job.first + warp * kRows; group < job.n_padded; group += warps * kRows) {
    const std::int64_t first = group + side;  // the lane's first row; its next row is kRowsAStep further
    const double* const values = job.rows + (first - job.first) * job.row_width;
    Gathered gathered[kRowsOfLane];
    double factors[kRowsOfLane];
#pragma unroll
    for (int s = 0; s < kRowsOfLane; ++s) {
      const std::int64_t row = first + s * kRowsAStep;
      factors[s] = 1.0;
      if (!job.unit_rows) continue;
      const double* const own = row < end ? values + s * kRowsAStep * job.row_width : nullptr;
      factors[s] = unit_factor<kLanes>(job, own, gathered[s]);
      if (own == nullptr) gathered[s] = {};
    }
    for (int c = 2 * lane; c < job.width; c += 2 * kLanes) {
      const AnyPair<kTrain> columns(job, c);
      std::uint32_t images[kRowsOfLane] = {};
#pragma unroll
      for (int s = 0; s < kRowsOfLane; ++s) {
        if (first + s * kRowsAStep >= end) continue;
        images[s] = columns.image(values + s * kRowsAStep * job.row_width, factors[s], gathered[s]);
      }
#pragma unroll
      for (int s = 0; s < kRowsOfLane; ++s) {
        const std::int64_t row = first + s * kRowsAStep;
        if (!kTrain) store_word(job.images + row * job.width + c, images[s]);
        if (job.tiles != nullptr) store_word(job.tiles + tile_place(row, c, job.width), images[s]);
      }
    }
    const Gathered sums = add_up<kLanes>(gathered);
    __syncwarp();  // the columns of starts have been zeroed, before the starts are written
    const std::int64_t row = first + step_of_lane<kLanes>() * kRowsAStep;
    if (lane % (kLanes / kRowsOfLane) == 0) write_summary<kTrain>(job, row, sums);
  }
}

template <bool kTrain, int kLanes>
void launch_lanes(const EncodeJob& job, cudaStream_t stream) {
  encode_kernel<kTrain, kLanes><<<encode_blocks(job, kLanes), kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("making images");
}

template <bool kTrain>
void launch_encode(const EncodeJob& job, cudaStream_t stream) {
  if (job.n_padded <= job.first) return;
  if (job.plain != nullptr) {
    (kTrain ? launch_plain_train : launch_plain_queries)(job, stream);
  } else if (job.width == 32) {
    launch_lanes<kTrain, 16>(job, stream);
  } else {
    launch_lanes<kTrain, 32>(job, stream);
  }
}

}  // namespace

void launch_encode_train(const EncodeJob& job, cudaStream_t stream) {
  launch_encode<true>(job, stream);
}

void launch_encode_queries(const EncodeJob& job, cudaStream_t stream) {
  launch_encode<false>(job, stream);
}

}  // namespace stope::knn::cuda
