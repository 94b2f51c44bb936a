// Rows in double precision become images in half precision, a warp a row.
#include "device/cuda/check.hpp"
#include "knn/cuda/filter_place.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kEncodeThreads = 256;
// Beyond this a half is near its largest value; a row with such a value is always listed.
constexpr double kMostImage = 60000.0;
// Relative rounding of a subtraction and a multiplication in double.
constexpr double kDoubleRounding = 0x1p-50;

__device__ double warp_sum(double value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  return value;
}

template <int kWidth, bool kTrain>
__global__ void __launch_bounds__(kEncodeThreads) encode_kernel(const EncodeJob job) {
  constexpr int kPerLane = kWidth / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (kEncodeThreads / 32);
  std::int64_t row = job.first + static_cast<std::int64_t>(blockIdx.x) * (kEncodeThreads / 32) + threadIdx.x / 32;
  for (; row < job.n_padded; row += warps) {
    const bool there = row < job.first + job.n;
    const double* values = job.rows + (row - job.first) * job.row_width;
    double errors = 0.0, squares = 0.0;
    bool bounded = true;
    __half image[kPerLane];
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const int column = lane * kPerLane + i;
      image[i] = __half(0.0F);
      if (!there || column >= job.n_columns) continue;
      const ImageColumn& how = job.columns[column];
      const double value = (values[how.source] - how.centre) * how.scale;
      if (!(fabs(value) <= kMostImage)) {
        bounded = false;
        continue;
      }
      image[i] = __double2half(value);
      const double rounded = static_cast<double>(__half2float(image[i]));
      const double error = fabs(value - rounded) + kDoubleRounding * fabs(value);
      errors += error * error;
      squares += rounded * rounded;
    }
    const std::int64_t place = kTrain ? train_place<kWidth>(row, lane * kPerLane) : row * kWidth + lane * kPerLane;
    static_assert(kPerLane == 2 || kPerLane == 4);
    if constexpr (kPerLane == 4) {
      *reinterpret_cast<uint2*>(job.images + place) = *reinterpret_cast<const uint2*>(image);
    } else {
      *reinterpret_cast<unsigned*>(job.images + place) = *reinterpret_cast<const unsigned*>(image);
    }
    errors = warp_sum(errors);
    squares = warp_sum(squares);
    const bool all_bounded = __all_sync(~0U, bounded);
    if (lane != 0) continue;
    job.squares[row] = squares;
    job.residuals[row] = all_bounded ? __double2float_ru(sqrt(errors) * (1.0 + 1e-6)) : __int_as_float(0x7fffffff);
  }
}

template <bool kTrain>
void launch_encode(const EncodeJob& job, cudaStream_t stream) {
  const std::int64_t rows = job.n_padded - job.first;
  if (rows <= 0) return;
  constexpr std::int64_t kMostBlocks = 2048;
  const std::int64_t blocks = (rows + kEncodeThreads / 32 - 1) / (kEncodeThreads / 32);
  const auto grid = static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
  if (job.width == 64) {
    encode_kernel<64, kTrain><<<grid, kEncodeThreads, 0, stream>>>(job);
  } else {
    encode_kernel<128, kTrain><<<grid, kEncodeThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("making images");
}

__global__ void __launch_bounds__(kEncodeThreads) starts_kernel(const StartJob job) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kEncodeThreads;
  double largest = 0.0;
  unsigned always = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kEncodeThreads + threadIdx.x; row < job.n_padded;
       row += step) {
    if (row >= job.n) {
      job.lowest[row] = job.highest[row] = kNever;
      continue;
    }
    const double square = job.squares[row];
    if (!(job.residuals[row] <= job.most_residual)) {  // NaN, too
      job.lowest[row] = kNever;
      job.highest[row] = kAlways;
      ++always;
      continue;
    }
    const double error = kAccumulation * (job.width + 2) * square;
    job.lowest[row] = __double2float_rd(-0.5 * square - error);
    job.highest[row] = __double2float_ru(-0.5 * square + error);
    largest = square > largest ? square : largest;
  }
  // Squares are not negative: their bits are ordered as they are.
  atomicMax(job.largest_square, static_cast<unsigned long long>(__double_as_longlong(largest)));
  if (always > 0) atomicAdd(job.n_always, static_cast<unsigned long long>(always));
}

__global__ void __launch_bounds__(1024) largest_shift_kernel(const ShiftJob job) {
  __shared__ double largest_of_warps[32];
  double largest = 0.0;
  for (std::int64_t i = threadIdx.x; i < job.n_queries; i += 1024) largest = fmax(largest, job.query_squares[i]);
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) largest = fmax(largest, __shfl_xor_sync(~0U, largest, offset));
  if (threadIdx.x % 32 == 0) largest_of_warps[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const double other : largest_of_warps) largest = fmax(largest, other);
  const double shift = sqrt(largest * job.largest_train_square) + 0.5 * job.largest_train_square;
  *job.shift = shift * (1.0 + 1e-3) + 1e-30;  // above all rounding
}

__global__ void __launch_bounds__(kEncodeThreads) shift_kernel(const ShiftJob job) {
  const double shift = *job.shift;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kEncodeThreads;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kEncodeThreads + threadIdx.x; row < job.n;
       row += step) {
    const float lowest = job.lowest[row], highest = job.highest[row];
    job.shifted_lowest[row] = lowest > 0.5F * kNever ? __double2float_rd(static_cast<double>(lowest) + shift) : kNever;
    job.shifted_highest[row] = highest > 0.5F * kNever && highest < 0.5F * kAlways
                                   ? __double2float_ru(static_cast<double>(highest) + shift)
                                   : highest;
  }
}

}  // namespace

void launch_shift(const ShiftJob& job, cudaStream_t stream) {
  largest_shift_kernel<<<1, 1024, 0, stream>>>(job);
  shift_kernel<<<512, kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("preparing the scan");
}

void launch_encode_train(const EncodeJob& job, cudaStream_t stream) {
  launch_encode<true>(job, stream);
}

void launch_encode_queries(const EncodeJob& job, cudaStream_t stream) {
  launch_encode<false>(job, stream);
}

void launch_starts(const StartJob& job, cudaStream_t stream) {
  starts_kernel<<<1024, kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("preparing the scan");
}

}  // namespace stope::knn::cuda
