// Which rows go right, and where: the sides of the rows of a table, then every column's order, stably.
#pragma once

#include <cstdint>

#include "tree/cuda/long_pieces.cuh"

namespace stope::tree::cuda {

/// The node of every 32nd position, by halving.
__global__ void __launch_bounds__(kPieceThreads) first_nodes_kernel(const LongLevel level) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kPieceThreads + threadIdx.x, position = i * 32;
  if (position >= level.n_rows) return;
  std::int64_t low = 0, high = level.n_nodes;  // begins[low] <= position < begins[high]
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (static_cast<std::int64_t>(level.begins[middle]) <= position ? low : high) = middle;
  }
  level.first_nodes[i] = static_cast<std::uint32_t>(low);
}

/// What each node does: a thread a node.
__global__ void __launch_bounds__(kPieceThreads) choose_kernel(const LongLevel level) {
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * kPieceThreads + threadIdx.x;
  if (node >= level.n_nodes) return;
  const LongBest& best = level.best[node];
  cuda_abi::Split split{static_cast<std::int64_t>(best.w), 0, 0, 0, -1, 0};
  if (split.w > 0 && split.w >= level.min_w) {
    split.attribute = static_cast<std::int32_t>(best.attribute);
    const std::int64_t column = level.columns[split.attribute];
    const std::uint32_t* const rows = level.orders.rows + column * level.orders.stride + best.position;
    split.low = rows[0];
    split.high = level.symbolic[column] != 0 ? rows[0] : rows[1];
  }
  level.splits[node] = split;
}

/// Notes the rows that go right, and counts their classes. A thread a position.
__global__ void __launch_bounds__(kPieceThreads) mark_kernel(const LongLevel level) {
  const std::int64_t position = static_cast<std::int64_t>(blockIdx.x) * kPieceThreads + threadIdx.x;
  const std::int64_t at = position < level.n_rows ? position : level.n_rows - 1;
  const std::uint32_t node = node_at(level, at);
  const std::int32_t attribute = level.splits[node].attribute;
  bool goes_right = false;
  std::uint32_t row = 0;
  unsigned k = 0;
  if (position < level.n_rows && attribute >= 0) {
    const std::int64_t column = level.columns[attribute], first = column * level.orders.stride;
    const std::int64_t cut = level.best[node].position;
    const bool is_symbolic = level.symbolic[column] != 0;
    goes_right = is_symbolic ? level.orders.ranks[first + at] == level.orders.ranks[first + cut] : at > cut;
    row = level.orders.rows[first + at];
    k = level.orders.classes[first + at];
  }
  if (goes_right) atomicOr(level.sides + row / 32, 1U << row % 32);
  // Lanes of one node and class count together.
  const unsigned right = __ballot_sync(kAllLanes, goes_right);
  const unsigned alike = __match_any_sync(kAllLanes, node) & __match_any_sync(kAllLanes, k) & right;
  if (goes_right && static_cast<int>(threadIdx.x) % 32 == __ffs(static_cast<int>(alike)) - 1) {
    atomicAdd(level.right_counts + static_cast<std::int64_t>(node) * level.n_classes + k,
              static_cast<std::uint32_t>(__popc(alike)));
  }
}

/// flags[column][position / 32]: the sides of rows in each column's order; counts[column][piece]: how many go right.
__global__ void __launch_bounds__(kPieceThreads) sides_kernel(const LongLevel level, std::uint32_t* flags) {
  const LongPiece piece(level);
  if (!piece.is_there) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t* const rows = level.orders.rows + piece.column * level.orders.stride;
  std::uint32_t* const to = flags + piece.column * ((level.n_rows + 31) / 32);
  int n = 0;
  for (std::int64_t first = piece.begin; first < piece.end; first += 32) {
    const std::uint32_t row = rows[min(first + lane, piece.end - 1)];
    const bool goes_right = first + lane < piece.end && (level.sides[row / 32] >> row % 32 & 1) != 0;
    const unsigned right = __ballot_sync(kAllLanes, goes_right);
    n += __popc(right);
    if (lane == 0) to[first / 32] = right;
  }
  if (lane == 0) level.counts[piece.column * level.n_pieces + piece.number] = static_cast<std::uint32_t>(n);
}

__global__ void __launch_bounds__(kPieceThreads)
    move_kernel(const LongLevel level, const LongMove* moves, const std::uint32_t* flags, const LongOrders to) {
  const LongPiece piece(level);
  if (!piece.is_there) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t from = piece.column * level.orders.stride, base = piece.column * to.stride;
  const std::uint32_t* const right = flags + piece.column * ((level.n_rows + 31) / 32);
  std::uint32_t rights = level.counts[piece.column * level.n_pieces + piece.number];  // in front of the chunk
  for (std::int64_t first = piece.begin; first < piece.end; first += 32) {
    const std::uint32_t chunk = right[first / 32];
    const std::int64_t position = first + lane;
    if (position < piece.end) {
      const uint4 move = reinterpret_cast<const uint4*>(moves)[node_at(level, position)];
      const std::uint32_t rights_in_node =
          rights + static_cast<std::uint32_t>(__popc(chunk & ((1U << lane) - 1))) - move.y;
      const bool goes_right = (chunk >> lane & 1) != 0;
      const std::uint32_t place = goes_right ? move.w : move.z;
      if (place != kNowhere) {
        const std::uint32_t in_child =
            goes_right ? rights_in_node : static_cast<std::uint32_t>(position) - move.x - rights_in_node;
        const std::int64_t target = base + place + in_child;
        to.ranks[target] = level.orders.ranks[from + position];
        to.rows[target] = level.orders.rows[from + position];
        to.classes[target] = level.orders.classes[from + position];
      }
    }
    rights += static_cast<std::uint32_t>(__popc(chunk));
  }
}

}  // namespace stope::tree::cuda
