// Kernels of SortedColumns (sorted_columns.hpp): the order of short columns, and what is missing.
#pragma once

#include <cstdint>

#include "discretize/cuda/job.hpp"
#include "discretize/cuda/long_level.hpp"
#include "discretize/value_order.hpp"

namespace stope::discretize::cuda {

inline constexpr int kOrderThreads = 256;

/// A block takes a column, which becomes column `first` + its number of `to`. A value's place is the number of values
/// that stand before it; equal ones stand in row order.
template <class T>
__global__ void __launch_bounds__(kOrderThreads)
    short_orders_kernel(const __grid_constant__ Columns<T> columns, const LongOrders to, std::int64_t first) {
  using Key = decltype(order_key(T{}));
  __shared__ Key keys[kShortRows];
  const auto n = static_cast<int>(columns.n_rows);
  const std::int64_t column = blockIdx.x, at = (first + column) * to.stride;
  const T* const x = columns.values + column * n;
  for (int row = static_cast<int>(threadIdx.x); row < n; row += kOrderThreads) keys[row] = order_key(x[row]);
  __syncthreads();
  for (int row = static_cast<int>(threadIdx.x); row < n; row += kOrderThreads) {
    const Key key = keys[row];
    int less = 0, equal = 0;
    for (int other = 0; other < row; ++other) {
      less += keys[other] < key ? 1 : 0;
      equal += keys[other] == key ? 1 : 0;
    }
    for (int other = row + 1; other < n; ++other) less += keys[other] < key ? 1 : 0;
    to.rows[at + less + equal] = static_cast<std::uint32_t>(row);
    to.ranks[at + less + equal] = static_cast<std::uint32_t>(less);
    to.classes[at + less + equal] = columns.classes[row];
  }
}

/// A thread counts the missing values of a sorted column, which come first.
template <class T>
__global__ void __launch_bounds__(kOrderThreads)
    missing_kernel(const __grid_constant__ Columns<T> columns, const LongOrders orders, std::int64_t first,
                   std::uint32_t* n_missing) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kOrderThreads + threadIdx.x;
  if (column >= columns.n_columns) return;
  const T* const x = columns.values + column * columns.n_rows;
  const std::uint32_t* const rows = orders.rows + (first + column) * orders.stride;
  const auto is_missing = [&](std::uint32_t at) { return x[rows[at]] != x[rows[at]]; };
  std::uint32_t low = 0, high = 0;
  if (is_missing(0)) high = static_cast<std::uint32_t>(columns.n_rows);
  while (high - low > 1) {  // `low` is missing, `high` is not
    const std::uint32_t middle = (low + high) / 2;
    (is_missing(middle) ? low : high) = middle;
  }
  n_missing[first + column] = high;
}

}  // namespace stope::discretize::cuda
