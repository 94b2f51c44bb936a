// Joins the parts of each column into one, and finds the rows of its extremes.
#pragma once

#include "device/cuda/launch.cuh"
#include "stats/cuda/values.cuh"

namespace stope::stats::cuda {

inline constexpr int kJoinThreads = 256, kJoinedAtOnce = 2 * kJoinThreads;

// Joins parts[0..n) of the block in pairs of neighbours, into parts[0]. Every thread of the block must call it.
template <bool kMoments, class Wide>
__device__ void join_block(Part<Wide>* parts, int n) {
  for (int apart = 1; apart < n; apart *= 2) {
    __syncthreads();  // the level below is written
    for (int i = static_cast<int>(threadIdx.x) * 2 * apart; i + apart < n; i += kJoinThreads * 2 * apart) {
      join_hinted<kMoments>(parts[i], parts[i + apart]);
    }
  }
  __syncthreads();
}

/// Finds the first row with that value among those that `hint` leaves, and the value as it is stored there.
/// kJoinThreads / 2 threads do the work; this one is number `thread`. Both halves of the block must call it at once.
/// Each half has its own `found`.
template <class T, class Wide>
__device__ void locate(const Matrix<T>& matrix, std::int64_t column, int thread, int& found, std::int64_t& hint,
                       Wide& value) {
  constexpr int kThreads = kJoinThreads / 2;
  const std::int64_t leaf = leaf_of(hint), left = matrix.n_rows - leaf;
  const T* const x = matrix.data + column * matrix.column_stride + leaf * matrix.row_stride;
  const int rows = static_cast<int>(left < kLeafRows ? left : kLeafRows);
  const auto at = [&](int row) { return static_cast<Wide>(scaled(x[row * matrix.row_stride], matrix.scale)); };
  const bool one_chain = (hint & kSeveral) == 0;
  const int first = one_chain ? static_cast<int>(hint % kChains) : 0, step = one_chain ? kChains : 1;
  if (thread == 0) found = rows;
  __syncthreads();
  constexpr int kAtOnce = 4;
  bool is_done = false;
  for (int begin = thread; !__syncthreads_and(is_done ? 1 : 0); begin += kAtOnce * kThreads) {
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = first + (begin + i * kThreads) * step;
      if (!is_done && row < rows && at(row) == value) atomicMin(&found, row);
    }
    __syncthreads();
    is_done = is_done || found < rows || first + (begin - thread + kAtOnce * kThreads) * step >= rows;
  }
  if (found < rows) value = at(found);
  hint = leaf + (found < rows ? found : 0);
}

/// Joins up to kJoinedAtOnce neighbouring parts of a column. Where these are all, it also finds the rows of the
/// column's extremes. blockIdx.x is column * n_out + the number of the result.
template <class T, bool kMoments>
__global__ void __launch_bounds__(kJoinThreads)
    join_kernel(const __grid_constant__ Matrix<T> matrix, const Part<typename Numbers<T>::Wide>* in, std::int64_t n_in,
                std::int64_t n_out, Part<typename Numbers<T>::Wide>* out) {
  using Wide = typename Numbers<T>::Wide;
  __shared__ alignas(16) unsigned char memory[kJoinThreads * sizeof(Part<Wide>)];
  __shared__ int found[2];
  Part<Wide>* parts = reinterpret_cast<Part<Wide>*>(memory);
  const std::int64_t column = blockIdx.x / n_out, begin = blockIdx.x % n_out * kJoinedAtOnce;
  const std::int64_t left = n_in - begin;
  const int n = static_cast<int>(left < kJoinedAtOnce ? left : kJoinedAtOnce);
  stope::cuda::let_next_kernel_begin();
  stope::cuda::wait_for_kernel_before();
  Part<Wide> part;
  if (const int i = 2 * static_cast<int>(threadIdx.x); i < n) {
    in += column * n_in + begin;
    part = in[i];
    if (i + 1 < n) join_hinted<kMoments>(part, in[i + 1]);
    parts[threadIdx.x] = part;
  }
  join_block<kMoments>(parts, (n + 1) / 2);
  part = parts[0];
  if (n_out == 1 && part.count > 0) {
    const int half = static_cast<int>(threadIdx.x) / (kJoinThreads / 2);
    const int thread = static_cast<int>(threadIdx.x) % (kJoinThreads / 2);
    std::int64_t row = half == 0 ? part.min_row : part.max_row;
    Wide value = half == 0 ? part.min : part.max;
    locate(matrix, column, thread, found[half], row, value);
    __syncthreads();  // parts[0] has been read
    if (thread == 0) (half == 0 ? parts->min_row : parts->max_row) = row;
    if (thread == 0) (half == 0 ? parts->min : parts->max) = value;
    __syncthreads();
    part = parts[0];
  } else if (n_out == 1) {
    part.min_row = part.max_row = 0;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part;
}

}  // namespace stope::stats::cuda
