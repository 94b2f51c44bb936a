// Trees of up to 1024 rows on a GPU. Every attribute's rows are sorted once. Then each level has two kernels: one scans
// the orders for the best split of every open node, one splits. Nothing is copied back before the tree is done.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

inline constexpr int kShortRows = static_cast<int>(cuda_abi::kShortRows);
inline constexpr int kMostOpen = kShortRows / 2;  ///< nodes of a level that might be split: each has two rows or more

/// The orders of all columns, one column per thread: neighbouring columns lie side by side.
struct ShortOrders {
  std::uint32_t* rows;     ///< [word][column]: rows_of_word() rows per word; n_rows behind the last one
  std::uint32_t* changes;  ///< [position / 32][column]: bit position % 32 says that the next value differs
  std::int64_t stride;     ///< from a word of a column to its next one
  int n_rows;
};

/// Row numbers take a byte in tables of up to 256 rows, else two.
__host__ __device__ constexpr int rows_of_word(int n_rows) {
  return n_rows <= 256 ? 4 : 2;
}

/// Sorts columns that lie one behind the other. They become columns `first` ... of `orders`. T: float, double,
/// std::int32_t (codes, not negative).
template <class T>
void sort_short(const T* values, std::int64_t n_columns, const ShortOrders& orders, std::int64_t first,
                cudaStream_t stream);

/// The nodes that might be split. Their splits are numbered from `first` on.
struct Level {
  int first, n_open, depth, open_rows;
};

/// Everything is in the GPU's memory. There are at most most_splits() splits; those of a level are together.
struct ShortTree {
  ShortOrders orders;
  std::int64_t n_columns;
  const std::int32_t* attributes;  ///< attribute of each column
  const std::uint8_t* symbolic;    ///< for each column, whether it holds codes
  const std::int32_t* columns;     ///< column of each attribute
  const std::uint8_t* classes;     ///< class of each row
  int n_classes, max_depth, min_samples_leaf;
  std::uint32_t min_w;
  std::uint16_t* nodes;      ///< for each row, the number of its open node in the level, or kClosed
  std::uint32_t* totals;     ///< [split][class]: rows of the node
  std::uint32_t* right;      ///< [split][class]: rows that go right; 0 at the start
  unsigned long long* keys;  ///< for each split, its Key; 0 at the start
  cuda_abi::Split* splits;
  Level* level;
};

inline constexpr std::uint16_t kClosed = 0xffff;

/// Every split leaves two nodes of at least one row. Open nodes that turn out as leaves have at least two rows.
__host__ __device__ constexpr int most_splits(int n_rows) {
  return n_rows + n_rows / 2;
}

/// Orders splits: the higher W wins; if equal, the lower attribute, then the lower end. The end is the position behind
/// the last row that goes left; for a symbolic column, behind the last one that goes right.
struct Key {
  static constexpr int kEndBits = 10, kAttributeBits = 32;

  __host__ __device__ static constexpr std::uint32_t worth(std::uint32_t w, int end) {
    return w << kEndBits | static_cast<std::uint32_t>(kShortRows - end);
  }
  __host__ __device__ static constexpr std::uint32_t w_of_worth(std::uint32_t worth) { return worth >> kEndBits; }
  __host__ __device__ static constexpr unsigned long long key(std::uint32_t worth, std::uint32_t not_attribute) {
    return static_cast<unsigned long long>(w_of_worth(worth)) << (kEndBits + kAttributeBits) |
           static_cast<unsigned long long>(not_attribute) << kEndBits | (worth & ((1U << kEndBits) - 1));
  }
  __host__ __device__ static constexpr std::uint32_t w(unsigned long long key) {
    return static_cast<std::uint32_t>(key >> (kEndBits + kAttributeBits));
  }
  __host__ __device__ static constexpr std::int32_t attribute(unsigned long long key) {
    return static_cast<std::int32_t>(~static_cast<std::uint32_t>(key >> kEndBits));
  }
  __host__ __device__ static constexpr int end(unsigned long long key) {
    return kShortRows - static_cast<int>(key & ((1U << kEndBits) - 1));
  }
};

/// Grows one level: the splits of its open nodes, and the next level. Does nothing where no node is open.
void grow_level(const ShortTree& tree, cudaStream_t stream);

}  // namespace stope::tree::cuda
