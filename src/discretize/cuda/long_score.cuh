// The best splits of long columns. Classes are counted piece by piece, and counts are carried from piece to piece. Then
// every piece is scanned once more, starting from the counts in front of it.
#pragma once

#include <cstdint>

#include <type_traits>

#include "discretize/cuda/gains.cuh"
#include "discretize/cuda/long_pieces.cuh"

namespace stope::discretize::cuda {

/// For two classes: counts the rows of the second class in a plain piece.
__device__ __forceinline__ std::uint32_t count_seconds(const std::uint8_t* classes) {
  static_assert(kPieceRows == 2 * 32 * sizeof(uint4));
  const auto* const sixteens = reinterpret_cast<const uint4*>(classes) + threadIdx.x % 32;
  const uint4 a = sixteens[0], b = sixteens[32];
  int n = __popc(a.x) + __popc(a.y) + __popc(a.z) + __popc(a.w) + __popc(b.x) + __popc(b.y) + __popc(b.z) + __popc(b.w);
#pragma unroll
  for (int half = 16; half >= 1; half /= 2) n += __shfl_xor_sync(kAllLanes, n, half);
  return static_cast<std::uint32_t>(n);
}

/// Counts counts[column][class][piece] of each piece, from its last break on. Shared memory: n_classes words per warp.
__global__ void __launch_bounds__(kPieceThreads) count_kernel(const LongLevel level) {
  extern __shared__ std::uint32_t counters[];
  const LongPiece piece = LongPiece::of_warp(level);
  if (!piece.is_there) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint8_t* const classes = level.orders.classes + piece.column * level.orders.stride;
  std::uint32_t* const to = level.counts + piece.column * level.n_classes * level.n_pieces + piece.number;
  std::uint8_t& breaks = level.breaks[piece.column * level.n_pieces + piece.number];
  if (level.n_classes == 2 && is_plain(level, piece)) {
    const std::uint32_t seconds = count_seconds(classes + piece.begin);
    if (lane < 2) to[lane * level.n_pieces] = lane == 0 ? static_cast<std::uint32_t>(kPieceRows) - seconds : seconds;
    if (lane == 0) breaks = level.begins[node_at(level, piece.begin)] == piece.begin ? 1 : 0;
    return;
  }
  std::uint32_t* const mine = counters + threadIdx.x / 32 * level.n_classes;
  for (int k = lane; k < level.n_classes; k += 32) mine[k] = 0;
  __syncwarp();
  const bool symbolic = level.symbolic[piece.column] != 0;
  bool has_break = false;
  for (std::int64_t first = piece.begin; first < piece.end; first += 32) {
    const Chunk chunk(level, piece, first, symbolic);
    if (chunk.breaks != 0) {
      has_break = true;
      for (int k = lane; k < level.n_classes; k += 32) mine[k] = 0;
      __syncwarp();
    }
    const bool counts = chunk.is_there && chunk.breaks >> lane <= 1;  // no break behind this lane
    const int k = counts ? classes[chunk.position] : level.n_classes;
    const unsigned same = __match_any_sync(kAllLanes, k);
    if (counts && lane == __ffs(static_cast<int>(same)) - 1) mine[k] += static_cast<std::uint32_t>(__popc(same));
    __syncwarp();
  }
  for (int k = lane; k < level.n_classes; k += 32) to[k * level.n_pieces] = mine[k];
  if (lane == 0) breaks = has_break ? 1 : 0;
}

/// Makes the split the node's best if it is better. One thread of a warp may call it at a time.
__device__ __forceinline__ void replace(LongBest* best, unsigned long long w, std::uint32_t attribute,
                                        std::uint32_t position) {
  volatile LongBest* const there = best;
  while (atomicCAS(&best->lock, 0U, 1U) != 0U) {
  }
  __threadfence();
  const unsigned long long w_there = there->w;
  if (w > w_there) {
    there->attribute = kNoAttribute;  // before the new W is written, for is_beaten
    __threadfence();
    there->w = w;
    __threadfence();
  }
  // While this warp waited, another one may have written a higher W.
  if (w > w_there || (w == w_there && (attribute < there->attribute ||
                                       (attribute == there->attribute && position < there->position)))) {
    there->attribute = attribute;
    there->position = position;
  }
  __threadfence();
  atomicExch(&best->lock, 0U);
}

/// Whether the node has a better split already. The values read may be old, but W and attribute only get better. An
/// attribute that is read after a W belongs to that W or to a higher one.
__device__ __forceinline__ bool is_beaten(LongBest* best, unsigned long long w, std::uint32_t attribute) {
  const volatile LongBest* const there = best;
  const unsigned long long w_there = there->w;
  __threadfence();
  return w_there > w || (w_there == w && there->attribute < attribute);
}

__device__ __forceinline__ LongBest* best_of(const LongLevel& level, const LongPiece& piece, std::uint32_t node) {
  return level.best + (level.columns_apart ? piece.column : static_cast<std::int64_t>(node));
}

/// Makes the best of a warp's candidates for one node the node's best, if it is better. `w` 0: this lane has none. Only
/// warps that raise the highest W, or equal it, take the lock. They are few, because warps come in random order.
__device__ __forceinline__ void offer(LongBest* best, unsigned long long w, std::uint32_t attribute,
                                      std::uint32_t position) {
  unsigned long long highest = w;
  std::uint32_t lowest = position;
#pragma unroll
  for (int half = 16; half >= 1; half /= 2) {
    const unsigned long long o = __shfl_xor_sync(kAllLanes, highest, half);
    const std::uint32_t at = __shfl_xor_sync(kAllLanes, lowest, half);
    if (o > highest || (o == highest && at < lowest)) {
      highest = o;
      lowest = at;
    }
  }
  if (threadIdx.x % 32 == 0 && highest > 0 && static_cast<volatile LongBest*>(best)->highest <= highest &&
      atomicMax(&best->highest, highest) <= highest && !is_beaten(best, highest, attribute)) {
    replace(best, highest, attribute, lowest);
  }
  __syncwarp();
}

/// Adds a chunk's rows to the counts of each class that have moved, which begin anew at its last break. All lanes have
/// read the counts. `same_class`: the lanes of this lane's class.
__device__ __forceinline__ void carry_moved(const LongLevel& level, std::uint32_t* moved, const Chunk& chunk, int k,
                                            unsigned same_class) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (chunk.breaks != 0) {
    for (int i = lane; i < level.n_classes; i += 32) moved[i] = 0;
    __syncwarp();
  }
  const unsigned moving = same_class & __shfl_sync(kAllLanes, chunk.counted(), 31);
  if (chunk.is_there && moving != 0 && lane == __ffs(static_cast<int>(moving)) - 1) {
    moved[k] += static_cast<std::uint32_t>(__popc(moving));
  }
  __syncwarp();
}

/// Computes W after the rows of a part have moved, from counts of each class.
class LongCounts {
 public:
  /// Starts in front of a piece. `moved`: n_classes words of shared memory for this warp.
  __device__ __forceinline__ LongCounts(const LongLevel& level, const LongPiece& piece, std::uint32_t* moved)
      : level_(level), moved_(moved) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::uint32_t node = node_at(level, piece.begin);
    const std::uint32_t* const totals = level.totals + static_cast<std::int64_t>(node) * level.n_classes;
    const auto n = static_cast<std::int64_t>(level.begins[node + 1] - level.begins[node]);
    std::int64_t rows = 0, same = 0;
    for (int k = lane; k < level.n_classes; k += 32) {
      const std::int64_t own = level.counts[(piece.column * level.n_classes + k) * level.n_pieces + piece.number];
      moved[k] = static_cast<std::uint32_t>(own);
      rows += own;
      same += own * (static_cast<std::int64_t>(totals[k]) - own);
    }
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) {
      rows += __shfl_xor_sync(kAllLanes, rows, half);
      same += __shfl_xor_sync(kAllLanes, same, half);
    }
    rows_ = static_cast<std::uint32_t>(rows);
    w_ = rows * (n - rows) - same;
    __syncwarp();
  }

  /// Moves the chunk's rows up to this lane's, from the last break on. Returns how many have moved, and W.
  __device__ __forceinline__ void add(const Chunk& chunk, int k, std::uint32_t& rows, std::int64_t& w) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned counted = chunk.counted();
    const std::uint32_t* const totals = level_.totals + static_cast<std::int64_t>(chunk.node) * level_.n_classes;
    const unsigned same_class = __match_any_sync(kAllLanes, chunk.is_there ? k : level_.n_classes);
    const bool goes_on = chunk.since < 0;
    const auto same_before = static_cast<std::int64_t>(__popc(same_class & counted)) - 1 +
                             (goes_on && chunk.is_there ? static_cast<std::int64_t>(moved_[k]) : 0);
    rows = static_cast<std::uint32_t>(__popc(counted)) + (goes_on ? rows_ : 0U);
    std::int64_t gain = 0;
    if (chunk.is_there) {
      gain =
          static_cast<std::int64_t>(chunk.n_node) - totals[k] - 2 * (static_cast<std::int64_t>(rows) - 1 - same_before);
    }
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::int64_t o = __shfl_up_sync(kAllLanes, gain, apart);
      if (lane - apart >= max(chunk.since, 0)) gain += o;
    }
    w = gain + (goes_on ? w_ : 0);
    w_ = __shfl_sync(kAllLanes, w, 31);
    rows_ = __shfl_sync(kAllLanes, rows, 31);
    __syncwarp();  // all lanes have read them
    carry_moved(level_, moved_, chunk, k, same_class);
  }

 private:
  const LongLevel& level_;
  std::uint32_t* moved_;
  std::uint32_t rows_;
  std::int64_t w_;
};

/// Like LongCounts, for two classes: W comes from the counts of a row's part, without a sum over rows.
class LongTwoCounts {
 public:
  __device__ __forceinline__ LongTwoCounts(const LongLevel& level, const LongPiece& piece, std::uint32_t*)
      : level_(level),
        first_(level.counts[piece.column * 2 * level.n_pieces + piece.number]),
        second_(level.counts[(piece.column * 2 + 1) * level.n_pieces + piece.number]) {}

  __device__ __forceinline__ void add(const Chunk& chunk, int k, std::uint32_t& rows, std::int64_t& w) {
    const unsigned counted = chunk.counted(), seconds = __ballot_sync(kAllLanes, chunk.is_there && k == 1);
    const bool goes_on = chunk.since < 0;
    const std::uint32_t second = static_cast<std::uint32_t>(__popc(seconds & counted)) + (goes_on ? second_ : 0U);
    rows = static_cast<std::uint32_t>(__popc(counted)) + (goes_on ? first_ + second_ : 0U);
    const uint2 totals = reinterpret_cast<const uint2*>(level_.totals)[chunk.node];
    const std::uint32_t first = rows - second;
    w = static_cast<std::int64_t>(first) * (totals.y - second) + static_cast<std::int64_t>(second) * (totals.x - first);
    second_ = __shfl_sync(kAllLanes, second, 31);
    first_ = __shfl_sync(kAllLanes, first, 31);
  }

 private:
  const LongLevel& level_;
  std::uint32_t first_, second_;
};

__device__ __forceinline__ Rounded rounded_of(const LongLevel& level) {
  return level.columns_apart ? Rounded::counts : Rounded::is_none;
}
/// Whether there might be a cut behind this lane's row: some of the node's rows have moved, and others have not.
__device__ __forceinline__ bool may_be_cut(const Chunk& chunk, std::uint32_t rows) {
  return chunk.is_there && chunk.is_last && rows < chunk.n_node;
}

/// Like LongCounts, for the gain in Gini impurity: `w` has its bits where a cut can be.
class LongGiniCounts {
 public:
  __device__ __forceinline__ LongGiniCounts(const LongLevel& level, const LongPiece& piece, std::uint32_t* moved)
      : level_(level), counts_(level, piece, moved) {
    const std::uint32_t* const totals =
        level.totals + static_cast<std::int64_t>(node_at(level, piece.begin)) * level.n_classes;
    std::int64_t sum = 0;
    for (int k = static_cast<int>(threadIdx.x) % 32; k < level.n_classes; k += 32) {
      sum += static_cast<std::int64_t>(moved[k]) * static_cast<std::int64_t>(totals[k]);
    }
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) sum += __shfl_xor_sync(kAllLanes, sum, half);
    of_classes_ = sum;
  }

  __device__ __forceinline__ void add(const Chunk& chunk, int k, std::uint32_t& rows, std::int64_t& w) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::int64_t pairs;
    counts_.add(chunk, k, rows, pairs);
    const std::uint32_t* const totals = level_.totals + static_cast<std::int64_t>(chunk.node) * level_.n_classes;
    std::int64_t of_classes = chunk.is_there ? static_cast<std::int64_t>(totals[k]) : 0;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::int64_t o = __shfl_up_sync(kAllLanes, of_classes, apart);
      if (lane - apart >= max(chunk.since, 0)) of_classes += o;
    }
    if (chunk.since < 0) of_classes += of_classes_;
    of_classes_ = __shfl_sync(kAllLanes, of_classes, 31);
    w = 0;
    if (!may_be_cut(chunk, rows)) return;
    w = static_cast<std::int64_t>(
        gini_bits(level_.node_gains[chunk.node], rows, pairs, of_classes, rounded_of(level_)));
  }

 private:
  const LongLevel& level_;
  LongCounts counts_;
  std::int64_t of_classes_;  // sum over the classes: rows that have moved times all rows
};

/// Like LongGiniCounts, for the gain in entropy.
class LongEntropyCounts {
 public:
  __device__ __forceinline__ LongEntropyCounts(const LongLevel& level, const LongPiece& piece, std::uint32_t* moved)
      : level_(level), moved_(moved) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::uint32_t rows = 0;
    for (int k = lane; k < level.n_classes; k += 32) {
      moved[k] = level.counts[(piece.column * level.n_classes + k) * level.n_pieces + piece.number];
      rows += moved[k];
    }
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) rows += __shfl_xor_sync(kAllLanes, rows, half);
    rows_ = rows;
    __syncwarp();
  }

  __device__ __forceinline__ void add(const Chunk& chunk, int k, std::uint32_t& rows, std::int64_t& w) {
    const unsigned counted = chunk.counted();
    const bool goes_on = chunk.since < 0;
    rows = static_cast<std::uint32_t>(__popc(counted)) + (goes_on ? rows_ : 0U);
    const std::uint32_t* const totals = level_.totals + static_cast<std::int64_t>(chunk.node) * level_.n_classes;
    const bool is_cut = may_be_cut(chunk, rows);
    w = 0;
    if (__any_sync(kAllLanes, is_cut)) {
      bool is_real = rounded_of(level_) == Rounded::counts;
      double left = 0.0, right = 0.0;
      for (int c = 0; c < level_.n_classes; ++c) {
        const unsigned of_class = __ballot_sync(kAllLanes, chunk.is_there && k == c);
        if (!is_cut) continue;
        const std::int64_t count = __popc(of_class & counted) + (goes_on ? static_cast<std::int64_t>(moved_[c]) : 0);
        const auto both = static_cast<std::int64_t>(totals[c]);
        is_real = is_real || count * chunk.n_node != both * rows;  // both below 2^60
        left = __dadd_rn(left, information_of(level_.gains, count));
        right = __dadd_rn(right, information_of(level_.gains, both - count));
      }
      if (is_cut && is_real) {
        w = static_cast<std::int64_t>(entropy_bits(level_.gains, level_.node_gains[chunk.node], rows, left, right));
      }
    }
    rows_ = __shfl_sync(kAllLanes, rows, 31);
    __syncwarp();  // all lanes have read the counts
    const unsigned same_class = __match_any_sync(kAllLanes, chunk.is_there ? k : level_.n_classes);
    carry_moved(level_, moved_, chunk, k, same_class);
  }

 private:
  const LongLevel& level_;
  std::uint32_t* moved_;
  std::uint32_t rows_;
};

/// Finds the best cut of a plain piece with two classes: this lane's W and position. A lane takes eight positions at a
/// time. Four bytes of classes times 0x01010101 are their running sums, from the lowest byte up.
__device__ __forceinline__ void score_plain(const LongLevel& level, const LongPiece& piece, std::uint32_t node,
                                            unsigned long long& best, std::uint32_t& best_at) {
  constexpr int kAtOnce = 8;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t column = piece.column * level.orders.stride;
  const std::uint32_t* const ranks = level.orders.ranks + column;
  const std::uint8_t* const classes = level.orders.classes + column;
  const std::uint32_t begin = level.begins[node], n_node = level.begins[node + 1] - begin;
  const uint2 totals = reinterpret_cast<const uint2*>(level.totals)[node];
  const auto least = static_cast<std::uint32_t>(level.min_samples_leaf);
  if (n_node / 2 < least || n_node < 2) return;
  const std::uint32_t more = n_node - 2 * least;  // cuts leave least ... least + more rows on the left
  // Rows of the second class in front. Where the node begins with this piece, the count belongs to another node.
  std::uint32_t before =
      begin == piece.begin ? 0 : level.counts[(piece.column * 2 + 1) * level.n_pieces + piece.number];
#pragma unroll 2
  for (std::int64_t first = piece.begin; first < piece.end; first += 32 * kAtOnce) {
    const std::int64_t at = first + lane * kAtOnce;
    const uint4 low = *reinterpret_cast<const uint4*>(ranks + at),
                high = *reinterpret_cast<const uint4*>(ranks + at + 4);
    const uint2 labels = *reinterpret_cast<const uint2*>(classes + at);
    std::uint32_t next = __shfl_sync(kAllLanes, low.x, (lane + 1) % 32);
    if (lane == 31) next = ranks[min(at + kAtOnce, level.n_rows - 1)];  // there is no cut behind the last position
    const std::uint32_t sums_low = labels.x * 0x01010101U, sums_high = labels.y * 0x01010101U,
                        own = (sums_low >> 24) + (sums_high >> 24);
    std::uint32_t sum = own;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::uint32_t o = __shfl_up_sync(kAllLanes, sum, apart);
      if (lane >= apart) sum += o;
    }
    const std::uint32_t in_front = before + sum - own, middle = in_front + (sums_low >> 24);
    before += __shfl_sync(kAllLanes, sum, 31);
    const std::uint32_t rank[kAtOnce + 1] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w, next};
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const std::uint32_t second =
          i < 4 ? in_front + (sums_low >> 8 * i & 0xff) : middle + (sums_high >> 8 * (i - 4) & 0xff);
      const std::uint32_t rows = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(i) + 1 - begin;
      const std::uint32_t first_class = rows - second;
      const unsigned long long w = static_cast<unsigned long long>(first_class) * (totals.y - second) +
                                   static_cast<unsigned long long>(second) * (totals.x - first_class);
      if (rank[i] != rank[i + 1] && rows - least <= more && w > best) {
        best = w;
        best_at = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(i);
      }
    }
  }
}

/// Shared memory: n_classes words per warp.
template <class Counts>
__global__ void __launch_bounds__(kPieceThreads) score_kernel(const LongLevel level) {
  extern __shared__ std::uint32_t counters[];
  const LongPiece piece = LongPiece::of_warp(level);
  if (!piece.is_there) return;
  if constexpr (std::is_same_v<Counts, LongTwoCounts>) {
    if (is_plain(level, piece)) {
      unsigned long long best = 0;
      std::uint32_t best_at = 0;
      const std::uint32_t node = node_at(level, piece.begin);
      score_plain(level, piece, node, best, best_at);
      offer(best_of(level, piece, node), best, static_cast<std::uint32_t>(level.attributes[piece.column]), best_at);
      return;
    }
  }
  Counts counts(level, piece, counters + threadIdx.x / 32 * level.n_classes);
  const bool symbolic = level.symbolic[piece.column] != 0;
  const auto attribute = static_cast<std::uint32_t>(level.attributes[piece.column]);
  const auto least = static_cast<std::uint32_t>(level.min_samples_leaf);
  const std::uint8_t* const classes = level.orders.classes + piece.column * level.orders.stride;
  // This lane's best in `node`, which is the same for all lanes.
  unsigned long long best = 0;
  std::uint32_t best_at = 0, node = node_at(level, piece.begin);
  for (std::int64_t first = piece.begin; first < piece.end; first += 32) {
    const Chunk chunk(level, piece, first, symbolic);
    std::uint32_t rows;
    std::int64_t w;
    counts.add(chunk, chunk.is_there ? classes[chunk.position] : 0, rows, w);
    const bool is_cut = chunk.is_there && chunk.is_last && rows >= least && chunk.n_node - rows >= least &&
                        (symbolic || chunk.left_in_node > 0);
    const unsigned long long worth = is_cut ? static_cast<unsigned long long>(w) : 0;
    const auto at = static_cast<std::uint32_t>(chunk.position);
    unsigned others = __ballot_sync(kAllLanes, chunk.is_there && chunk.node != node);
    if (chunk.node == node && worth > best) {  // positions ascend: if equal, the first stays
      best = worth;
      best_at = at;
    }
    while (others != 0) {  // one node after another
      offer(best_of(level, piece, node), best, attribute, best_at);
      node = __shfl_sync(kAllLanes, chunk.node, __ffs(static_cast<int>(others)) - 1);
      const bool is_in = chunk.is_there && chunk.node == node;
      best = is_in ? worth : 0;
      best_at = at;
      others &= ~__ballot_sync(kAllLanes, is_in);
    }
  }
  offer(best_of(level, piece, node), best, attribute, best_at);
}

}  // namespace stope::discretize::cuda
