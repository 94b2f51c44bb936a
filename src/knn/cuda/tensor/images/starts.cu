// Where scores start: rows that are always listed, and the shift that makes scores positive.
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/images/row_summary.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kStartThreads = 256;

/// Rows whose residual is far above the usual become rows that are always listed.
__global__ void __launch_bounds__(kStartThreads) starts_kernel(const StartJob job) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kStartThreads;
  float largest = 0.0F;
  unsigned always = 0;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kStartThreads + threadIdx.x; row < job.n;
       row += step) {
    const float residual = job.residuals[row];
    if (residual <= job.most_residual) {  // false for NaN
      largest = fmaxf(largest, job.norms[row]);
      continue;
    }
    ++always;
    if (!isnan(residual)) place_start(job.start, row, start_of(job.start, 0.0, RowKind::unbounded));
  }
  // Norms are not negative, so their bits have the same order.
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, offset));
  if (threadIdx.x % 32 == 0) atomicMax(job.largest_norm, __float_as_uint(largest));
  if (always > 0) atomicAdd(job.n_always, static_cast<unsigned long long>(always));
}

/// Rounds up to one of few values, so that the starts of all rows need not be shifted again for every batch of queries.
__device__ float few_bits(float value) {
  constexpr unsigned kDropped = (1U << 21) - 1;  // leaves two bits of the mantissa: at most a quarter more
  return __uint_as_float((__float_as_uint(value) + kDropped) & ~kDropped);
}

__global__ void __launch_bounds__(1024) largest_shift_kernel(const ShiftJob job) {
  __shared__ float largest_of_warps[32];
  float largest = 0.0F;
  for (std::int64_t i = threadIdx.x; i < job.n_queries; i += 1024) {
    if (job.query_residuals[i] >= 0.0F) largest = fmaxf(largest, job.query_norms[i]);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0U, largest, offset));
  if (threadIdx.x % 32 == 0) largest_of_warps[threadIdx.x / 32] = largest;
  __syncthreads();  // all maxima of the warps are written
  if (threadIdx.x != 0) return;
  for (const float other : largest_of_warps) largest = fmaxf(largest, other);
  const double query = static_cast<double>(largest), train = job.largest_train_norm;
  const double least = sqrt(query * train) + 0.5 * train + (job.masks ? 0.5 * query + job.nominal : 0.0);
  // The shift exceeds all rounding, and a half can hold it.
  float shift = __half2float(__float2half_ru(__double2float_ru(least * (1.0 + 1e-3) + 1e-6)));
  if (job.column < 0) shift = few_bits(shift);
  job.shift[1] = static_cast<double>(shift) != job.shift[0] ? 1.0 : 0.0;
  job.shift[0] = static_cast<double>(shift);
}

__global__ void __launch_bounds__(kStartThreads) shift_starts_kernel(const ShiftJob job) {
  if (job.shift[1] == 0.0) return;  // the starts already have this shift
  const double shift = *job.shift;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kStartThreads;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kStartThreads + threadIdx.x; row < job.n;
       row += step) {
    const float start = job.starts[row];
    job.shifted_starts[row] = fabsf(start) < 0.5F * kAlways ? static_cast<float>(start + shift) : start;
  }
}

__global__ void __launch_bounds__(kStartThreads) shift_queries_kernel(const ShiftJob job) {
  const __half shift = __double2half(*job.shift);
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kStartThreads + threadIdx.x;
  if (row >= job.n_queries) return;
  job.images[row * job.width + job.column] = shift;
  if (job.tiles != nullptr) job.tiles[tile_place(row, job.column, job.width)] = shift;
}

}  // namespace

void launch_starts(const StartJob& job, cudaStream_t stream) {
  starts_kernel<<<1024, kStartThreads, 0, stream>>>(job);
  stope::cuda::check_launch("preparing the scan");
}

void launch_shift(const ShiftJob& job, cudaStream_t stream) {
  largest_shift_kernel<<<1, 1024, 0, stream>>>(job);
  if (job.column < 0) {
    shift_starts_kernel<<<512, kStartThreads, 0, stream>>>(job);
  } else if (job.n_queries > 0) {
    const auto blocks = static_cast<unsigned>((job.n_queries + kStartThreads - 1) / kStartThreads);
    shift_queries_kernel<<<blocks, kStartThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("preparing the scan");
}

}  // namespace stope::knn::cuda
