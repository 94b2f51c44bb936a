// Launches of a level's search, and the sums that are carried from piece to piece.
#include "discretize/cuda/long_level.hpp"

#include "device/cuda/check.hpp"
#include "discretize/cuda/long_score.cuh"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;

/// Finds the node of every 32nd position, by halving.
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

/// Computes what the gains need of each node, one thread per node.
__global__ void __launch_bounds__(kPieceThreads) node_gains_kernel(const LongLevel level) {
  const std::int64_t node = static_cast<std::int64_t>(blockIdx.x) * kPieceThreads + threadIdx.x;
  if (node >= level.n_nodes) return;
  const std::uint32_t* const totals = level.totals + node * level.n_classes;
  const bool by_entropy = level.gains.score == cuda_abi::Score::entropy;
  std::int64_t n = 0, squares = 0;
  double sum = 0.0;
  for (int k = 0; k < level.n_classes; ++k) {
    const auto count = static_cast<std::int64_t>(totals[k]);
    n += count;
    squares += count * count;
    if (by_entropy) sum = __dadd_rn(sum, information_of(level.gains, count));
  }
  const double entropy = by_entropy ? __dadd_rn(information_of(level.gains, n), -sum) : 0.0;
  level.node_gains[node] = {n, squares, entropy};
}

/// Each warp takes a row of counts, with four pieces per lane.
__global__ void __launch_bounds__(kPieceThreads)
    carry_kernel(std::uint32_t* counts, const std::uint8_t* breaks, std::int64_t n_pieces, std::int64_t n_counts,
                 int rows_of_breaks) {
  constexpr int kOfLane = 4;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kPieceWarps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (row >= n_counts) return;
  std::uint32_t* const of_row = counts + row * n_pieces;
  const std::uint8_t* const breaks_of_row = breaks == nullptr ? nullptr : breaks + row / rows_of_breaks * n_pieces;
  std::uint32_t before = 0;
  for (std::int64_t first = 0; first < n_pieces; first += 32 * kOfLane) {
    std::uint32_t own[kOfLane], sum = 0;
    bool is_break[kOfLane], has_break = false;
#pragma unroll
    for (int j = 0; j < kOfLane; ++j) {
      const std::int64_t i = first + lane * kOfLane + j;
      own[j] = i < n_pieces ? of_row[i] : 0;
      is_break[j] = i < n_pieces && breaks_of_row != nullptr && breaks_of_row[i] != 0;
      sum = own[j] + (is_break[j] ? 0 : sum);
      has_break = has_break || is_break[j];
    }
    const unsigned all = __ballot_sync(kAllLanes, has_break);
    const int since = 31 - __clz(static_cast<int>(all & (0xffffffffU >> (31 - lane))));
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::uint32_t o = __shfl_up_sync(kAllLanes, sum, apart);
      if (lane - apart >= max(since, 0)) sum += o;
    }
    if (since < 0) sum += before;
    std::uint32_t in_front = __shfl_up_sync(kAllLanes, sum, 1);
    if (lane == 0) in_front = before;
    before = __shfl_sync(kAllLanes, sum, 31);
#pragma unroll
    for (int j = 0; j < kOfLane; ++j) {
      const std::int64_t i = first + lane * kOfLane + j;
      if (i < n_pieces) of_row[i] = in_front;
      in_front = own[j] + (is_break[j] ? 0 : in_front);
    }
  }
}

}  // namespace

void carry_counts(std::uint32_t* counts, const std::uint8_t* breaks, std::int64_t n_pieces, std::int64_t n_counts,
                  int rows_of_breaks, cudaStream_t stream) {
  carry_kernel<<<piece_blocks(n_counts, 1), kPieceThreads, 0, stream>>>(counts, breaks, n_pieces, n_counts,
                                                                        rows_of_breaks);
  check_launch("carrying counts");
}

void find_best(const LongLevel& level, cudaStream_t stream) {
  const auto n_best = static_cast<std::size_t>(level.columns_apart ? level.n_columns : level.n_nodes);
  check(cudaMemsetAsync(level.best, 0, n_best * sizeof(LongBest), stream), "clearing splits");
  const std::int64_t n_first = (level.n_rows + 31) / 32;
  first_nodes_kernel<<<static_cast<unsigned>((n_first + kPieceThreads - 1) / kPieceThreads), kPieceThreads, 0,
                       stream>>>(level);
  check_launch("finding nodes");
  if (level.gains.score != cuda_abi::Score::pairs) {
    node_gains_kernel<<<static_cast<unsigned>((level.n_nodes + kPieceThreads - 1) / kPieceThreads), kPieceThreads, 0,
                        stream>>>(level);
    check_launch("counting nodes");
  }
  const std::size_t shared = static_cast<std::size_t>(level.n_classes) * kPieceWarps * sizeof(std::uint32_t);
  const unsigned blocks = piece_blocks(level.n_columns, level.n_pieces);
  count_kernel<<<blocks, kPieceThreads, shared, stream>>>(level);
  check_launch("counting classes");
  carry_counts(level.counts, level.breaks, level.n_pieces, level.n_columns * level.n_classes, level.n_classes, stream);
  if (level.gains.score == cuda_abi::Score::gini) {
    score_kernel<LongGiniCounts><<<blocks, kPieceThreads, shared, stream>>>(level);
  } else if (level.gains.score == cuda_abi::Score::entropy) {
    score_kernel<LongEntropyCounts><<<blocks, kPieceThreads, shared, stream>>>(level);
  } else if (level.n_classes == 2) {
    score_kernel<LongTwoCounts><<<blocks, kPieceThreads, shared, stream>>>(level);
  } else {
    score_kernel<LongCounts><<<blocks, kPieceThreads, shared, stream>>>(level);
  }
  check_launch("scoring splits");
}

}  // namespace stope::discretize::cuda
