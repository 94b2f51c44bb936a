// What the kernels of a pass share: the matrix, how its values are loaded, and how parts are joined that only hint at
// the rows of their extremes.
#pragma once

#include <cstdint>

#include "device/cuda/async_copy.cuh"
#include "stats/cuda/chain.cuh"

namespace stope::stats::cuda {

inline constexpr int kWarp = 32;
static_assert(kChains == kWarp);

// Values come through rings in shared memory: batches are on their way while the one before them is added. All threads
// of an SM together have 96 KiB or more under way, which hides the memory's latency at its full rate.
template <class Load>
inline constexpr int kBatch =
    sizeof(Load) <= 8 ? 64 / sizeof(Load) : 4;  // values of one column, or of several neighbouring ones

template <class T>
struct Matrix {
  const T* data;
  std::int64_t n_rows, n_columns, row_stride, column_stride;
  double scale;
};

template <class T>
__device__ T scaled(T x, double scale) {
  if constexpr (sizeof(T) == 8 && !Numbers<T>::kInteger) return x * scale;
  return x;
}

// An extreme's hint names its leaf and chain, so that only the chain's rows are searched in the end. It is the leaf's
// first row, a multiple of kLeafRows, plus the chain's number. kSeveral is added where several chains have the extreme.
constexpr std::int64_t kSeveral = kChains;
static_assert(kLeafRows % (2 * kChains) == 0);

__device__ std::int64_t leaf_of(std::int64_t hint) {
  return hint & -kLeafRows;
}

template <bool kMoments, class Wide>
__device__ void join_hinted(Part<Wide>& a, const Part<Wide>& b) {
  const bool same_low = a.min == b.min && leaf_of(a.min_row) == leaf_of(b.min_row);
  const bool same_high = a.max == b.max && leaf_of(a.max_row) == leaf_of(b.max_row);
  const bool both = a.count > 0 && b.count > 0;
  join<kMoments>(a, b);
  if (both && same_low) a.min_row |= kSeveral;
  if (both && same_high) a.max_row |= kSeveral;
}

__device__ inline std::int64_t rows_of_leaf(std::int64_t n_rows, std::int64_t leaf) {
  const std::int64_t left = n_rows - leaf * kLeafRows;
  return left < kLeafRows ? (left < 0 ? 0 : left) : kLeafRows;
}

// Rows of a chain, in a leaf of `rows` rows.
__device__ inline int chain_length(std::int64_t rows, int chain) {
  return rows <= chain ? 0 : static_cast<int>((rows - chain + kChains - 1) / kChains);
}

}  // namespace stope::stats::cuda
