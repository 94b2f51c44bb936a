// Splits the open nodes of a level by the results of short_scan.cuh, in one block with a warp per node.
#pragma once

#include <cstdint>

#include "tree/cuda/short_tree.hpp"

namespace stope::tree::cuda {

inline constexpr int kSplitThreads = 1024;

/// Returns the row at a position of a column.
__device__ __forceinline__ int row_at(const ShortOrders& orders, std::int64_t column, int position) {
  const int rows = rows_of_word(orders.n_rows), bits = 32 / rows;
  const std::uint32_t word = orders.rows[position / rows * orders.stride + column];
  return static_cast<int>(word >> (position % rows * bits) & ((1U << bits) - 1));
}

/// Returns where the run of equal values begins that contains a position. A whole warp must call it.
__device__ __forceinline__ int run_begin(const ShortOrders& orders, std::int64_t column, int position) {
  const int lane = static_cast<int>(threadIdx.x) % 32;  // 32 words of 32 positions
  std::uint32_t changes = lane * 32 < position ? orders.changes[lane * orders.stride + column] : 0;
  if (position < (lane + 1) * 32) changes &= (1U << position % 32) - 1;  // those in front of it
  if (position <= lane * 32) changes = 0;
  const unsigned with = __ballot_sync(0xffffffffU, changes != 0);
  if (with == 0) return 0;
  const int last = 31 - __clz(static_cast<int>(with));
  changes = __shfl_sync(0xffffffffU, changes, last);
  return last * 32 + 31 - __clz(static_cast<int>(changes)) + 1;
}

/// Notes the side of each of the node's rows, and counts the classes of the right side. A whole warp must call it.
__device__ __forceinline__ cuda_abi::Split split_node(const ShortTree& tree, int split, int node,
                                                      const std::uint16_t* nodes, std::uint8_t* right) {
  constexpr unsigned kAll = 0xffffffffU;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned long long key = tree.keys[split];
  cuda_abi::Split made{Key::w(key), 0, 0, 0, -1, 0};
  if (Key::w(key) < tree.min_w) return made;
  made.attribute = Key::attribute(key);
  const std::int64_t column = tree.columns[made.attribute];
  const int behind = Key::end(key);
  int last = -1;  // the node's last row in front of `behind`
  for (int first = 0; first < behind; first += 32) {
    const int position = first + lane;
    const bool is_in = position < behind && nodes[row_at(tree.orders, column, position)] == node;
    const unsigned in = __ballot_sync(kAll, is_in);
    if (in != 0) last = first + 31 - __clz(static_cast<int>(in));
  }
  const bool is_symbolic = tree.symbolic[column] != 0;
  const int begin = is_symbolic ? run_begin(tree.orders, column, last) : behind;
  const int end = is_symbolic ? behind : tree.orders.n_rows;
  for (int first = begin; first < end; first += 32) {
    const int position = first + lane;
    const int row = row_at(tree.orders, column, min(position, end - 1));
    const bool is_in = position < end && nodes[row] == node;
    if (is_in) {
      right[row] = 1;
      atomicAdd(tree.right + static_cast<std::int64_t>(split) * tree.n_classes + tree.classes[row], 1U);
    }
    made.n_right += __popc(__ballot_sync(kAll, is_in));
  }
  made.low = row_at(tree.orders, column, last);
  made.high = is_symbolic ? made.low : row_at(tree.orders, column, behind);
  return made;
}

/// Returns which children might be split (cuda_abi::Split::open). A whole warp must call it.
__device__ __forceinline__ int open_children(const ShortTree& tree, int split, int depth) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t* const totals = tree.totals + static_cast<std::int64_t>(split) * tree.n_classes;
  const std::uint32_t* const counted = tree.right + static_cast<std::int64_t>(split) * tree.n_classes;
  int present[2] = {0, 0}, rows[2] = {0, 0};  // left, right
  for (int first = 0; first < tree.n_classes; first += 32) {
    const int k = first + lane;
    const auto right = k < tree.n_classes ? static_cast<int>(__ldcg(counted + k)) : 0;
    const int sides[2] = {(k < tree.n_classes ? static_cast<int>(totals[k]) : 0) - right, right};
#pragma unroll
    for (int side = 0; side < 2; ++side) {
      present[side] += __popc(__ballot_sync(0xffffffffU, sides[side] > 0));
      rows[side] += sides[side];
    }
  }
  int open = 0;
#pragma unroll
  for (int side = 0; side < 2; ++side) {
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) rows[side] += __shfl_xor_sync(0xffffffffU, rows[side], half);
    const bool is_open = depth < tree.max_depth && present[side] > 1 && rows[side] / 2 >= tree.min_samples_leaf;
    open |= static_cast<int>(is_open) << side;
  }
  return open;
}

/// Numbers the open children: numbers[i] becomes the number of open children of the nodes before i. Returns how many
/// there are. A whole warp must call it.
__device__ __forceinline__ int number_children(const std::uint8_t* open, int n, std::uint16_t* numbers) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  int before = 0;
  for (int first = 0; first < n; first += 32) {
    const int own = first + lane < n ? __popc(open[first + lane]) : 0;
    int sum = own;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const int o = __shfl_up_sync(0xffffffffU, sum, apart);
      if (lane >= apart) sum += o;
    }
    if (first + lane < n) numbers[first + lane] = static_cast<std::uint16_t>(before + sum - own);
    before += __shfl_sync(0xffffffffU, sum, 31);
  }
  return before;
}

__global__ void __launch_bounds__(kSplitThreads) short_split_kernel(const ShortTree tree) {
  __shared__ std::uint16_t nodes[kShortRows], numbers[kMostOpen];
  __shared__ std::uint8_t right[kShortRows], open[kMostOpen];
  __shared__ int n_next;
  const Level level = *tree.level;
  if (level.n_open == 0) return;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, n_rows = tree.orders.n_rows;
  if (thread < n_rows) {
    nodes[thread] = tree.nodes[thread];
    right[thread] = 0;
  }
  __syncthreads();
  for (int node = warp; node < level.n_open; node += kSplitThreads / 32) {
    const cuda_abi::Split made = split_node(tree, level.first + node, node, nodes, right);
    if (thread % 32 == 0) tree.splits[level.first + node] = made;
  }
  __syncthreads();  // the counts of all classes are complete
  for (int node = warp; node < level.n_open; node += kSplitThreads / 32) {
    cuda_abi::Split& split = tree.splits[level.first + node];
    const int children = split.attribute < 0 ? 0 : open_children(tree, level.first + node, level.depth + 1);
    if (thread % 32 != 0) continue;
    split.open = children;
    open[node] = static_cast<std::uint8_t>(children);
  }
  __syncthreads();
  if (warp == 0) {
    const int n = number_children(open, level.n_open, numbers);
    if (thread == 0) n_next = n;
  }
  __syncthreads();
  const int next = level.first + level.n_open;
  for (int i = thread; i < level.n_open * tree.n_classes; i += kSplitThreads) {
    const int node = i / tree.n_classes, k = i % tree.n_classes;
    const std::int64_t at = static_cast<std::int64_t>(level.first) * tree.n_classes + i;
    const std::uint32_t on_right = __ldcg(tree.right + at);
    int child = next + numbers[node];
    if ((open[node] & 1) != 0)
      tree.totals[static_cast<std::int64_t>(child++) * tree.n_classes + k] = tree.totals[at] - on_right;
    if ((open[node] & 2) != 0) tree.totals[static_cast<std::int64_t>(child) * tree.n_classes + k] = on_right;
  }
  bool is_open = false;
  if (thread < n_rows && nodes[thread] != kClosed) {
    const int node = nodes[thread], side = right[thread];
    is_open = (open[node] >> side & 1) != 0;
    const int number = numbers[node] + (side == 1 && (open[node] & 1) != 0 ? 1 : 0);
    tree.nodes[thread] = is_open ? static_cast<std::uint16_t>(number) : kClosed;
  }
  const int open_rows = __syncthreads_count(is_open ? 1 : 0);
  if (thread == 0) *tree.level = {next, n_next, level.depth + 1, open_rows};
}

}  // namespace stope::tree::cuda
