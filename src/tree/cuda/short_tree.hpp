// Trees of up to 1024 rows on a GPU: every attribute's rows are sorted once; then two kernels a level, one that scans
// the orders for the best split of every open node, one that splits. Nothing comes back before the tree is done.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tree/cuda_abi.hpp"

namespace stope::tree::cuda {

inline constexpr int kShortRows = static_cast<int>(cuda_abi::kShortRows);
inline constexpr int kMostOpen = kShortRows / 2;  ///< nodes of a level that might be split: two rows each, or more

/// The orders of all columns, a column a thread's: neighbours lie side by side.
struct ShortOrders {
  std::uint32_t* rows;     ///< [word][column]: rows_of_word() rows a word; n_rows behind the last one
  std::uint32_t* changes;  ///< [position / 32][column]: bit position % 32 says that the next value is another one
  std::int64_t stride;     ///< from a word to the same column's next
  int n_rows;
};

/// Rows of tables of up to 256 take a byte, else two.
__host__ __device__ constexpr int rows_of_word(int n_rows) {
  return n_rows <= 256 ? 4 : 2;
}

/// Sorts columns that lie one behind the other; their orders become columns first .. of `orders`. T: float, double,
/// std::int32_t (codes, not negative).
template <class T>
void sort_short(const T* values, std::int64_t n_columns, const ShortOrders& orders, std::int64_t first,
                cudaStream_t stream);

/// The nodes that might be split; their splits are numbered from `first` on.
struct Level {
  int first, n_open, depth, open_rows;
};

/// All in the GPU's memory. At most most_splits() splits; those of a level are together.
struct ShortTree {
  ShortOrders orders;
  std::int64_t n_columns;
  const std::int32_t* attributes;  ///< number of each column
  const std::uint8_t* symbolic;    ///< of each column
  const std::int32_t* columns;     ///< of each attribute
  const std::uint8_t* classes;     ///< of each row
  int n_classes, max_depth, min_samples_leaf;
  std::uint32_t min_w;
  std::uint16_t* nodes;      ///< of each row: its open node's number in the level, or kClosed
  std::uint32_t* totals;     ///< [split][class]: rows of the node
  std::uint32_t* right;      ///< [split][class]: those that go right; 0 before
  unsigned long long* keys;  ///< of each split, what Key says; 0 before
  cuda_abi::Split* splits;
  Level* level;
};

inline constexpr std::uint16_t kClosed = 0xffff;

/// Every split leaves two nodes of a row or more; open nodes that turn out as leaves have two rows or more.
__host__ __device__ constexpr int most_splits(int n_rows) {
  return n_rows + n_rows / 2;
}

/// The higher W, of equal ones the lower attribute, then the lower end: the position behind the last row that goes
/// left, of a symbolic column behind the last one that goes right.
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

/// One level: the splits of its open nodes, and the next. Nothing where no node is open.
void grow_level(const ShortTree& tree, cudaStream_t stream);

}  // namespace stope::tree::cuda
