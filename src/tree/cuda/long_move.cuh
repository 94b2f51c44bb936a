// Decides which rows of the table go right, then partitions every column's order stably by that.
#pragma once

#include <cstdint>

#include "discretize/cuda/long_pieces.cuh"
#include "discretize/cuda/look_back.cuh"
#include "tree/cuda/long_tree.hpp"

namespace stope::tree::cuda {

using namespace discretize::cuda;  // pieces of columns

/// Decides each node's split, one thread per node.
__global__ void __launch_bounds__(kPieceThreads) choose_kernel(const TreeLevel level) {
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

/// Marks the rows that go right, and counts their classes, one thread per position.
__global__ void __launch_bounds__(kPieceThreads) mark_kernel(const TreeLevel level) {
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
  // Lanes with the same node and class count together.
  const unsigned right = __ballot_sync(kAllLanes, goes_right);
  const unsigned alike = __match_any_sync(kAllLanes, node) & __match_any_sync(kAllLanes, k) & right;
  if (goes_right && static_cast<int>(threadIdx.x) % 32 == __ffs(static_cast<int>(alike)) - 1) {
    atomicAdd(level.right_counts + static_cast<std::int64_t>(node) * level.n_classes + k,
              static_cast<std::uint32_t>(__popc(alike)));
  }
}

/// A warp's piece while it moves. For every 32 positions, one lane has the flags of the rows that go right, and how
/// many such rows are in front of them in the column.
struct Flags {
  std::uint32_t word, before;

  /// Returns the flags of a chunk of 32 positions. `rights`: rows that go right in front of this lane's.
  __device__ __forceinline__ std::uint32_t of_chunk(int chunk, std::uint32_t& rights) const {
    const std::uint32_t flags = __shfl_sync(kAllLanes, word, chunk);
    rights = __shfl_sync(kAllLanes, before, chunk) +
             static_cast<std::uint32_t>(__popc(flags & ((1U << threadIdx.x % 32) - 1)));
    return flags;
  }
};

/// Returns the flags of this lane's 32 positions. The rows' sides lie anywhere in memory, so many loads are under way
/// at a time.
__device__ __forceinline__ std::uint32_t read_flags(const TreeLevel& level, const LongPiece& piece) {
  constexpr int kAtOnce = 8;
  static_assert(kPieceRows == 32 * 32);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint32_t* const rows = level.orders.rows + piece.column * level.orders.stride;
  std::uint32_t word = 0;
  for (int chunk = 0; chunk < 32 && piece.begin + chunk * 32 < piece.end; chunk += kAtOnce) {
    std::uint32_t row[kAtOnce], sides[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) row[i] = rows[min(piece.begin + (chunk + i) * 32 + lane, piece.end - 1)];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) sides[i] = level.sides[row[i] / 32];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool is_there = piece.begin + (chunk + i) * 32 + lane < piece.end;
      const unsigned right = __ballot_sync(kAllLanes, is_there && (sides[i] >> row[i] % 32 & 1) != 0);
      if (lane == chunk + i) word = right;
    }
  }
  return word;
}

/// Moves the rows of a whole piece of one node through shared memory, 256 at a time. Those that go left are written
/// contiguously, and so are those that go right.
struct StagedRows {
  static constexpr int kChunks = 8, kRows = kChunks * 32;
  std::uint32_t ranks[kRows], rows[kRows];
  std::uint8_t classes[kRows];

  __device__ __forceinline__ void move(const TreeLevel& level, const LongPiece& piece, const LongMove& move,
                                       const Flags& flags, std::uint32_t piece_end, const LongOrders& to) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t from = piece.column * level.orders.stride + piece.begin + lane, base = piece.column * to.stride;
    for (int group = 0; group < 32; group += kChunks) {
      const std::uint32_t before = __shfl_sync(kAllLanes, flags.before, group),
                          behind = __shfl_sync(kAllLanes, flags.before, (group + kChunks) % 32),
                          n_right = (group + kChunks < 32 ? behind : piece_end) - before, n_left = kRows - n_right;
      std::uint32_t rank[kChunks], row[kChunks];
      std::uint8_t k[kChunks];
#pragma unroll
      for (int i = 0; i < kChunks; ++i) {
        const std::int64_t at = from + (group + i) * 32;
        rank[i] = level.orders.ranks[at];
        row[i] = level.orders.rows[at];
        k[i] = level.orders.classes[at];
      }
      __syncwarp();
#pragma unroll
      for (int i = 0; i < kChunks; ++i) {
        std::uint32_t rights;
        const std::uint32_t chunk = flags.of_chunk(group + i, rights);
        rights -= before;
        const std::uint32_t at =
            (chunk >> lane & 1) != 0 ? n_left + rights : static_cast<std::uint32_t>(i * 32 + lane) - rights;
        ranks[at] = rank[i];
        rows[at] = row[i];
        classes[at] = k[i];
      }
      __syncwarp();
      // `left` and `right` are where the first row of each side goes, counted from the front of the column.
      const std::uint32_t rights_in_node = before - move.rights_before,
                          left = move.left_to + static_cast<std::uint32_t>(piece.begin + group * 32) - move.begin -
                                 rights_in_node,
                          right = move.right_to + rights_in_node - n_left;
      for (std::uint32_t at = static_cast<std::uint32_t>(lane); at < kRows; at += 32) {
        const bool goes_right = at >= n_left;
        if ((goes_right ? move.right_to : move.left_to) == kNowhere) continue;
        const std::int64_t target = base + static_cast<std::uint32_t>((goes_right ? right : left) + at);
        to.ranks[target] = ranks[at];
        to.rows[target] = rows[at];
        to.classes[target] = classes[at];
      }
    }
  }
};

/// Moves the rows of any piece one by one.
__device__ __forceinline__ void move_each(const TreeLevel& level, const LongPiece& piece, const LongMove* moves,
                                          const Flags& flags, const LongOrders& to) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t from = piece.column * level.orders.stride, base = piece.column * to.stride;
  for (int chunk = 0; piece.begin + chunk * 32 < piece.end; ++chunk) {
    const std::int64_t position = piece.begin + chunk * 32 + lane, at = min(position, piece.end - 1);
    std::uint32_t rights;
    const bool goes_right = (flags.of_chunk(chunk, rights) >> lane & 1) != 0;
    const LongMove move = moves[node_at(level, at)];
    const std::uint32_t place = goes_right ? move.right_to : move.left_to;
    if (position >= piece.end || place == kNowhere) continue;
    const std::uint32_t rights_in_node = rights - move.rights_before;
    const std::int64_t target =
        base + place + (goes_right ? rights_in_node : static_cast<std::uint32_t>(at) - move.begin - rights_in_node);
    to.ranks[target] = level.orders.ranks[from + at];
    to.rows[target] = level.orders.rows[from + at];
    to.classes[target] = level.orders.classes[from + at];
  }
}

/// Partitions every column's rows stably. A block goes through a tile, a warp through a piece. `tiles` has a counter of
/// tiles taken, then what the tiles publish, [column][tile]. It must be 0 at the start.
__global__ void __launch_bounds__(kPieceThreads)
    move_kernel(const TreeLevel level, const LongMove* moves, std::uint32_t* tiles, const LongOrders to) {
  __shared__ StagedRows staged[kPieceWarps];
  __shared__ std::uint32_t rights_of[kPieceWarps], in_front;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const TakenTile taken(tiles, level.n_columns);
  const LongPiece piece(taken.column, taken.tile * kPieceWarps + warp, level.n_rows);
  std::uint32_t* const published = tiles + 1 + taken.column * level.n_tiles;
  Flags flags{read_flags(level, piece), 0};
  const auto own = static_cast<std::uint32_t>(__popc(flags.word));
  std::uint32_t sum = own;
#pragma unroll
  for (int apart = 1; apart < 32; apart *= 2) {
    const std::uint32_t o = __shfl_up_sync(kAllLanes, sum, apart);
    if (lane >= apart) sum += o;
  }
  if (lane == 31) rights_of[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    std::uint32_t all = 0;
    for (int w = 0; w < kPieceWarps; ++w) all += rights_of[w];
    if (lane == 0) *static_cast<volatile std::uint32_t*>(published + taken.tile) = all | kOwn;
    const std::uint32_t before = warp_look_back(published, taken.tile, all);
    if (lane == 0) in_front = before;
  }
  __syncthreads();
  flags.before = in_front + sum - own;
  for (int w = 0; w < warp; ++w) flags.before += rights_of[w];
  if (!piece.is_there) return;
  const std::uint32_t node = node_at(level, piece.begin);
  if (piece.end - piece.begin == kPieceRows && static_cast<std::int64_t>(level.begins[node + 1]) >= piece.end) {
    const std::uint32_t piece_end = __shfl_sync(kAllLanes, flags.before + own, 31);
    staged[warp].move(level, piece, moves[node], flags, piece_end, to);
  } else {
    move_each(level, piece, moves, flags, to);
  }
}

}  // namespace stope::tree::cuda
