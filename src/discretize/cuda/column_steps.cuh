// Steps of columns: their rows in the order of their values (discretize/cuda/permutations.hpp).
#pragma once

#include <cstdint>

#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_level.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize::cuda {

inline constexpr int kStepThreads = 256;

/// A step is the row twice, plus one where the next row has another value. Steps behind the last row are 0: no cut.
struct Steps {
  std::uint32_t* steps;  ///< [column][position]
  std::int64_t stride;   ///< a multiple of 4
};

__device__ __forceinline__ std::uint32_t step_of(std::uint32_t row, bool differs) {
  return 2 * row + (differs ? 1 : 0);
}

/// A block takes a column. A value's place is the number of values that stand before it; equal ones stand in row order.
/// Short columns are ordered sooner so than they are tried.
template <class T>
__global__ void __launch_bounds__(kStepThreads)
    short_steps_kernel(const __grid_constant__ Columns<T> columns, const Steps to) {
  using Key = decltype(order_key(T{}));
  __shared__ Key keys[kShortRows], sorted[kShortRows];
  __shared__ std::uint16_t rows[kShortRows];
  const auto n = static_cast<int>(columns.n_rows), stride = static_cast<int>(to.stride);
  const std::int64_t column = blockIdx.x;
  const T* const x = columns.values + column * n;
  for (int row = static_cast<int>(threadIdx.x); row < n; row += kStepThreads) keys[row] = order_key(x[row]);
  __syncthreads();
  for (int row = static_cast<int>(threadIdx.x); row < n; row += kStepThreads) {
    const Key key = keys[row];
    int place = 0;
    for (int other = 0; other < row; ++other) place += keys[other] <= key ? 1 : 0;
    for (int other = row + 1; other < n; ++other) place += keys[other] < key ? 1 : 0;
    sorted[place] = key;
    rows[place] = static_cast<std::uint16_t>(row);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < stride; i += kStepThreads) {
    to.steps[column * stride + i] = i < n ? step_of(rows[i], i + 1 < n && sorted[i] != sorted[i + 1]) : 0;
  }
}

/// A thread takes a step of a sorted column.
__global__ void __launch_bounds__(kStepThreads)
    long_steps_kernel(const LongOrders orders, std::int64_t n_rows, std::int64_t n_columns, const Steps to) {
  const std::int64_t step = static_cast<std::int64_t>(blockIdx.x) * kStepThreads + threadIdx.x;
  const std::int64_t column = step / to.stride, i = step % to.stride;
  if (column >= n_columns) return;
  const std::uint32_t* const ranks = orders.ranks + column * orders.stride + i;
  to.steps[step] =
      i < n_rows ? step_of(orders.rows[column * orders.stride + i], i + 1 < n_rows && ranks[0] != ranks[1]) : 0;
}

}  // namespace stope::discretize::cuda
