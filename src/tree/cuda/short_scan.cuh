// Finds the best split of every open node by every column of up to 1024 rows. A thread has a column and goes through
// its rows in order, whatever their nodes are. It keeps counts of each node in shared memory. Its words lie next to
// those of neighbouring threads, so that there are no bank conflicts. If the counts of all nodes fit, a level costs one
// pass, however many nodes it has; else several.
#pragma once

#include <cstdint>

#include "discretize/cuda/warp_reduce.cuh"
#include "tree/cuda/short_tree.hpp"

namespace stope::tree::cuda {

/// What a thread must know about the node and the column to offer a split.
struct Offer {
  int end;  ///< position behind what has moved
  int n_rows, least;

  __device__ __forceinline__ void to(std::uint32_t& best, std::uint32_t w, int moved) const {
    const std::uint32_t worth = Key::worth(w, end);
    if (moved >= least && n_rows - moved >= least && worth > best) best = worth;
  }
};

/// Two classes: the counts of a node fit one word.
class TwoClassNodes {
 public:
  static constexpr int kWords = 2;  ///< per thread and node
  __host__ __device__ static constexpr int words(int n_threads, int) { return kWords * n_threads + 1; }

  /// `memory` has n_nodes * words().
  __device__ __forceinline__ TwoClassNodes(std::uint32_t* memory, int n_nodes, int, int least)
      : totals_(memory), moved_(memory + n_nodes + threadIdx.x), best_(moved_ + n_nodes * blockDim.x), least_(least) {}

  /// Loads the class counts of n nodes. All threads must call it.
  __device__ __forceinline__ void load(int n, const std::uint32_t* counts) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
      totals_[i] = (counts[2 * i] + counts[2 * i + 1]) << 16 | counts[2 * i + 1];
    }
    for (int i = 0; i < n; ++i) moved_[i * blockDim.x] = best_[i * blockDim.x] = 0;
  }

  /// Adds the node's next row, of class k and with this rank.
  template <bool kSymbolic>
  __device__ __forceinline__ void add(int node, int k, std::uint32_t rank, int position) {
    std::uint32_t& moved = moved_[node * blockDim.x];
    std::uint32_t state = moved;
    if (state != 0 && state >> 22 != rank) {
      offer(node, state, position);
      if (kSymbolic) state = 0;
    }
    moved = (state & 0x3fffff) + 1 + (static_cast<std::uint32_t>(k) << 11) + (rank << 22);
  }
  __device__ __forceinline__ void finish(int node, int n_rows) {
    const std::uint32_t state = moved_[node * blockDim.x];
    if (state != 0) offer(node, state, n_rows);
  }
  __device__ __forceinline__ std::uint32_t best(int node) const { return best_[node * blockDim.x]; }

 private:
  // The state has 11 bits for rows, 11 bits for rows of the second class, and 10 bits for the rank.
  __device__ __forceinline__ void offer(int node, std::uint32_t state, int end) {
    const std::uint32_t totals = totals_[node], n = totals >> 16, n_second = totals & 0xffff;
    const std::uint32_t rows = state & 0x7ff, second = (state >> 11) & 0x7ff, first = rows - second;
    const std::uint32_t w = first * (n_second - second) + second * (n - n_second - first);
    Offer{end, static_cast<int>(n), least_}.to(best_[node * blockDim.x], w, static_cast<int>(rows));
  }

  std::uint32_t* totals_;
  std::uint32_t* moved_;
  std::uint32_t* best_;
  int least_;
};

/// Any number of classes: W grows by what each row gains (discretize/score.hpp).
class ManyClassNodes {
 public:
  /// Words of a node. Each thread has rank and rows, W, the best, and two classes per word. All share the node's rows
  /// and their classes.
  __host__ __device__ static constexpr int words(int n_threads, int n_classes) {
    return (3 + (n_classes + 1) / 2) * n_threads + 1 + n_classes;
  }

  __device__ __forceinline__ ManyClassNodes(std::uint32_t* memory, int n_nodes, int n_classes, int least)
      : totals_(memory), n_classes_(n_classes), least_(least) {
    std::uint32_t* const threads = memory + n_nodes * (1 + n_classes);
    const int all = n_nodes * static_cast<int>(blockDim.x);
    moved_ = threads + threadIdx.x;
    w_ = moved_ + all;
    best_ = w_ + all;
    counts_ = reinterpret_cast<std::uint16_t*>(threads + 3 * all) + threadIdx.x;
    n_counts_ = 2 * ((n_classes + 1) / 2);
  }

  __device__ __forceinline__ void load(int n, const std::uint32_t* counts) {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
      std::uint32_t rows = 0;
      for (int k = 0; k < n_classes_; ++k) {
        totals_[i * (1 + n_classes_) + 1 + k] = counts[i * n_classes_ + k];
        rows += counts[i * n_classes_ + k];
      }
      totals_[i * (1 + n_classes_)] = rows;
    }
    for (int i = 0; i < n; ++i) {
      best_[i * blockDim.x] = 0;
      clear(i);
    }
  }

  template <bool kSymbolic>
  __device__ __forceinline__ void add(int node, int k, std::uint32_t rank, int position) {
    std::uint32_t& moved = moved_[node * blockDim.x];
    if (moved != 0 && moved >> 16 != rank) {
      offer(node, position);
      if (kSymbolic) clear(node);
    }
    const std::uint32_t* const totals = totals_ + node * (1 + n_classes_);
    const std::uint32_t rows = moved & 0xffff;
    std::uint16_t& of_class = counts_[(node * n_counts_ + k) * blockDim.x];
    w_[node * blockDim.x] += totals[0] - totals[1 + k] - 2 * (rows - of_class);  // may fall: modulo 2^32
    ++of_class;
    moved = rank << 16 | (rows + 1);
  }
  __device__ __forceinline__ void finish(int node, int n_rows) {
    if (moved_[node * blockDim.x] != 0) offer(node, n_rows);
  }
  __device__ __forceinline__ std::uint32_t best(int node) const { return best_[node * blockDim.x]; }

 private:
  __device__ __forceinline__ void clear(int node) {
    moved_[node * blockDim.x] = w_[node * blockDim.x] = 0;
    for (int k = 0; k < n_classes_; ++k) counts_[(node * n_counts_ + k) * blockDim.x] = 0;
  }
  __device__ __forceinline__ void offer(int node, int end) {
    Offer{end, static_cast<int>(totals_[node * (1 + n_classes_)]), least_}.to(
        best_[node * blockDim.x], w_[node * blockDim.x], static_cast<int>(moved_[node * blockDim.x] & 0xffff));
  }

  std::uint32_t* totals_;
  std::uint32_t* moved_;
  std::uint32_t* w_;
  std::uint32_t* best_;
  std::uint16_t* counts_;
  int n_classes_, n_counts_, least_;
};

/// Goes through the rows of a column that belong to the nodes [first, first + n).
template <class Nodes, int kRows, bool kSymbolic>
__device__ __forceinline__ void scan_column(const ShortOrders& orders, std::int64_t column,
                                            const std::uint32_t* row_states, int first, int n, Nodes& nodes) {
  constexpr int kBits = 32 / kRows;
  const int n_words = (orders.n_rows + kRows - 1) / kRows;
  const std::uint32_t* at = orders.rows + column;
  const std::uint32_t* change = orders.changes + column;
  std::uint32_t rank = 0, changes = 0;
  std::uint32_t packed = *at, next = n_words > 1 ? at[orders.stride] : 0;  // two words under way
  for (int word = 0; word < n_words; ++word) {
    at += orders.stride;
    const std::uint32_t after = word + 2 < n_words ? at[orders.stride] : 0;
    if (word % kBits == 0) {
      changes = *change;
      change += orders.stride;
    }
    std::uint32_t states[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) states[i] = row_states[packed >> (i * kBits) & ((1U << kBits) - 1)];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      const auto node = static_cast<int>(states[i] >> 8) - first;
      if (node >= 0 && node < n) {
        nodes.template add<kSymbolic>(node, static_cast<int>(states[i] & 0xff), rank, word * kRows + i);
      }
      rank += changes & 1;
      changes >>= 1;
    }
    packed = next;
    next = after;
  }
  for (int node = 0; kSymbolic && node < n; ++node) nodes.finish(node, orders.n_rows);
}

/// Raises the node's key to the best of a warp's columns.
__device__ __forceinline__ void raise(unsigned long long* key, std::uint32_t worth, std::uint32_t not_attribute) {
  using discretize::cuda::reduce_max;
  const std::uint32_t w = Key::w_of_worth(worth), highest = reduce_max(w);
  if (highest == 0) return;
  const std::uint32_t lowest = reduce_max(w == highest ? not_attribute : 0);
  if (w != highest || not_attribute != lowest) return;
  const unsigned long long own = Key::key(worth, not_attribute);
  if (own > *static_cast<volatile unsigned long long*>(key)) atomicMax(key, own);
}

/// `n_nodes`: nodes whose counts fit the shared memory at once.
template <class Nodes, int kRows>
__global__ void short_scan_kernel(const ShortTree tree, int n_nodes) {
  extern __shared__ std::uint32_t row_states[];  // node << 8 | class, for each row and one more
  const Level level = *tree.level;
  if (level.n_open == 0) return;
  for (int row = static_cast<int>(threadIdx.x); row <= tree.orders.n_rows; row += static_cast<int>(blockDim.x)) {
    const std::uint32_t node = row < tree.orders.n_rows ? tree.nodes[row] : kClosed;
    row_states[row] = node << 8 | (row < tree.orders.n_rows ? tree.classes[row] : 0U);
  }
  Nodes nodes(row_states + tree.orders.n_rows + 1, n_nodes, tree.n_classes, tree.min_samples_leaf);
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const bool is_there = column < tree.n_columns;
  const std::uint32_t not_attribute = is_there ? ~static_cast<std::uint32_t>(tree.attributes[column]) : 0;
  const bool is_symbolic = is_there && tree.symbolic[column] != 0;
  for (int first = 0; first < level.n_open; first += n_nodes) {
    const int n = min(n_nodes, level.n_open - first);
    __syncthreads();
    nodes.load(n, tree.totals + static_cast<std::int64_t>(level.first + first) * tree.n_classes);
    __syncthreads();
    if (is_there && is_symbolic) {
      scan_column<Nodes, kRows, true>(tree.orders, column, row_states, first, n, nodes);
    } else if (is_there) {
      scan_column<Nodes, kRows, false>(tree.orders, column, row_states, first, n, nodes);
    }
    __syncwarp();
    for (int node = 0; node < n; ++node) {
      raise(tree.keys + level.first + first + node, is_there ? nodes.best(node) : 0, not_attribute);
    }
  }
}

}  // namespace stope::tree::cuda
