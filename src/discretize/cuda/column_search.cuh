// The best cut of an interval of a sorted column, by a block of threads.
//
// Each warp has a part of the interval: it counts the classes there, and then, from the counts in front of its part,
// tries every cut in it. What a cut is worth comes from the counts of all classes on its left, in their order: sums of
// doubles are those of discretize/cut_scan.hpp, and whole numbers have one sum.
#pragma once

#include <cstdint>
#include <type_traits>

#include "discretize/cuda/gains.cuh"
#include "discretize/cuda/sorted_columns.hpp"
#include "discretize/score.hpp"

namespace stope::discretize::cuda {

inline constexpr int kMostSearchThreads = 1024, kMostSearchWarps = kMostSearchThreads / 32;
inline constexpr unsigned kWarp = 0xffffffffU;

/// Places [begin, end) of a sorted column.
struct Places {
  std::uint32_t begin, end;

  __device__ __forceinline__ std::uint32_t size() const { return end - begin; }
  /// Places of each warp, a multiple of 32.
  __device__ __forceinline__ std::uint32_t of_each_warp() const {
    const std::uint32_t n_warps = blockDim.x / 32;
    return ((size() + 31) / 32 + n_warps - 1) / n_warps * 32;
  }
  /// The part of this warp, or an empty one. Parts follow one another.
  __device__ __forceinline__ Places of_warp() const {
    const std::uint32_t first = min(begin + threadIdx.x / 32 * of_each_warp(), end);
    return {first, min(first + of_each_warp(), end)};
  }
};

/// What an interval has: the weight of its rows, total_entropy() and the sum of squares of its class counts. Sums of
/// weights stay below 2^62, so that squares fit 128 bits.
struct Whole {
  std::int64_t total;
  double entropy;
  Int128 squares;
};

// What a cut is worth, from the counts of each class on its left and in all. `Key` is higher where a cut is worth more,
// and 0 where it is worth nothing.

class PairsWorth {
 public:
  using Key = unsigned __int128;
  static constexpr bool kEntropy = false, kSquares = false;

  __device__ __forceinline__ void add(const Gains&, std::int64_t left, std::int64_t both) {
    same_ += static_cast<Int128>(left) * (both - left);
  }
  __device__ __forceinline__ Key key(const Gains&, const Whole& whole, std::int64_t left) const {
    return static_cast<Key>(static_cast<Int128>(left) * (whole.total - left) - same_);
  }

 private:
  Int128 same_ = 0;
};

class GiniWorth {
 public:
  using Key = unsigned long long;
  static constexpr bool kEntropy = false, kSquares = true;

  __device__ __forceinline__ void add(const Gains&, std::int64_t left, std::int64_t both) {
    left_ += static_cast<Int128>(left) * left;
    right_ += static_cast<Int128>(both - left) * (both - left);
  }
  __device__ __forceinline__ Key key(const Gains&, const Whole& whole, std::int64_t left) const {
    return bits_of_gain(gini_gain(left_, left, right_, whole.total - left, whole.squares));
  }

 private:
  Int128 left_ = 0, right_ = 0;
};

class EntropyWorth {
 public:
  using Key = unsigned long long;
  static constexpr bool kEntropy = true, kSquares = false;

  __device__ __forceinline__ void add(const Gains& gains, std::int64_t left, std::int64_t both) {
    left_ = __dadd_rn(left_, information_of(gains, left));
    right_ = __dadd_rn(right_, information_of(gains, both - left));
  }
  __device__ __forceinline__ Key key(const Gains& gains, const Whole& whole, std::int64_t left) const {
    return entropy_bits(gains, {whole.total, 0, whole.entropy}, left, left_, right_);
  }

 private:
  double left_ = 0.0, right_ = 0.0;
};

/// A block's shared memory, but for counts of classes.
template <class Key>
struct SearchMemory {
  Key best[kMostSearchWarps];
  std::uint32_t best_at[kMostSearchWarps];
  Whole whole;
  int n_present;  ///< classes that the interval has
};

/// How a column is searched: by so many threads, with so many bytes of dynamic shared memory. It holds counts of each
/// warp, of the interval, and of what is left of its best cut.
struct SearchShape {
  unsigned n_threads;
  std::size_t shared;

  /// A warp has 128 rows at least, where there are so many: a block of few threads ends sooner, and more of them run.
  SearchShape(std::int64_t n_rows, std::int64_t n_classes, bool weighted) {
    constexpr std::int64_t kRowsOfWarp = 128, kMostShared = std::int64_t{44} << 10;
    const std::int64_t of_warp = n_classes * (weighted ? 8 : 4);
    std::int64_t n_warps = 2;
    while (n_warps < kMostSearchWarps && n_warps * kRowsOfWarp < n_rows && (2 * n_warps + 2) * of_warp <= kMostShared) {
      n_warps *= 2;
    }
    n_threads = static_cast<unsigned>(32 * n_warps);
    shared = static_cast<std::size_t>((n_warps + 2) * of_warp);
  }
};

template <class Worth, bool kWeighted>
class ColumnSearch {
 public:
  using Count = std::conditional_t<kWeighted, unsigned long long, std::uint32_t>;
  using Key = typename Worth::Key;

  __device__ __forceinline__ ColumnSearch(const SearchedColumns& columns, std::int64_t column, Count* counters,
                                          SearchMemory<Key>& memory)
      : ranks_(columns.orders.ranks + column * columns.orders.stride),
        rows_(columns.orders.rows + column * columns.orders.stride),
        classes_(columns.orders.classes + column * columns.orders.stride),
        weights_(columns.weights),
        n_classes_(columns.n_classes),
        gains_(columns.gains),
        counts_(counters),
        totals_(counters + blockDim.x / 32 * static_cast<unsigned>(columns.n_classes)),
        left_(totals_ + columns.n_classes),
        memory_(memory) {}

  /// The last place before a cut; its key is 0 if there is none.
  struct Best {
    Key key;
    std::uint32_t at;
    int warp;  ///< in whose part it lies
  };

  /// Returns the best cut of an interval, the lowest of equally good ones: the same to all threads. Without several
  /// classes there is none.
  __device__ Best best_cut(const Places& interval) {
    if (interval.size() < 2) return {};
    count(interval);
    if (memory_.n_present < 2) return {};
    try_cuts(interval);
    Best best{memory_.best[0], memory_.best_at[0], 0};
    for (int warp = 1; warp < static_cast<int>(blockDim.x / 32); ++warp) {  // parts ascend: if equal, the first stays
      if (memory_.best[warp] > best.key) best = {memory_.best[warp], memory_.best_at[warp], warp};
    }
    return best;
  }

  /// Counts the rows of the interval up to its best cut.
  __device__ __forceinline__ void count_left(const Places& interval, const Best& best) {
    for (int k = static_cast<int>(threadIdx.x); k < n_classes_; k += static_cast<int>(blockDim.x)) {
      left_[k] = best.warp > 0 ? counts_[(best.warp - 1) * n_classes_ + k] : 0;
    }
    __syncthreads();
    const Places rest{interval.begin + static_cast<std::uint32_t>(best.warp) * interval.of_each_warp(), best.at + 1};
    add_rows(rest.of_warp(), left_);
    __syncthreads();
  }

  // For one thread, after best_cut and count_left.
  __device__ __forceinline__ int n_classes() const { return n_classes_; }
  __device__ __forceinline__ const Gains& gains() const { return gains_; }
  __device__ __forceinline__ std::int64_t left_of(int k) const { return static_cast<std::int64_t>(left_[k]); }
  __device__ __forceinline__ std::int64_t both_of(int k) const { return static_cast<std::int64_t>(totals_[k]); }
  __device__ __forceinline__ const Whole& whole() const { return memory_.whole; }
  __device__ __forceinline__ int n_present() const { return memory_.n_present; }

 private:
  /// Adds rows to counts that several warps may share.
  __device__ __forceinline__ void add_rows(const Places& part, Count* to) const {
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t first = part.begin; first < part.end; first += 32) {
      const bool is_there = first + lane < part.end;
      const int k = is_there ? classes_[first + lane] : n_classes_;
      if constexpr (kWeighted) {
        if (is_there) atomicAdd(to + k, static_cast<Count>(weights_[rows_[first + lane]]));
      } else {
        const unsigned same = __match_any_sync(kWarp, k);
        if (is_there && static_cast<int>(lane) == __ffs(static_cast<int>(same)) - 1) {
          atomicAdd(to + k, static_cast<Count>(__popc(same)));
        }
      }
    }
  }

  /// Counts the interval, and for each warp what is in front of its part.
  __device__ __forceinline__ void count(const Places& interval) {
    const int n_warps = static_cast<int>(blockDim.x / 32), warp = static_cast<int>(threadIdx.x / 32);
    for (int i = static_cast<int>(threadIdx.x); i < n_warps * n_classes_; i += static_cast<int>(blockDim.x)) {
      counts_[i] = 0;
    }
    __syncthreads();
    add_rows(interval.of_warp(), counts_ + warp * n_classes_);
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < n_classes_; k += static_cast<int>(blockDim.x)) {
      Count in_front = 0;
      for (int w = 0; w < n_warps; ++w) {
        const Count own = counts_[w * n_classes_ + k];
        counts_[w * n_classes_ + k] = in_front;
        in_front += own;
      }
      totals_[k] = in_front;
    }
    __syncthreads();
    if (threadIdx.x == 0) sum_up();
    __syncthreads();
  }

  /// What the interval has, from its counts. For one thread.
  __device__ __forceinline__ void sum_up() {
    Whole whole{};
    double sum = 0.0;
    int n_present = 0;
    for (int k = 0; k < n_classes_; ++k) {
      const std::int64_t count = both_of(k);
      whole.total += count;
      n_present += count > 0 ? 1 : 0;
      if constexpr (Worth::kEntropy) sum = __dadd_rn(sum, information_of(gains_, count));
      if constexpr (Worth::kSquares) whole.squares += static_cast<Int128>(count) * count;
    }
    if constexpr (Worth::kEntropy) whole.entropy = __dadd_rn(information_of(gains_, whole.total), -sum);
    memory_.whole = whole;
    memory_.n_present = n_present;
  }

  /// Finds each warp's best cut. Afterwards counts_ holds what is in front of the next warp's part.
  __device__ __forceinline__ void try_cuts(const Places& interval) {
    const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Count* const mine = counts_ + static_cast<int>(warp) * n_classes_;
    const Places part = interval.of_warp();
    const Whole whole = memory_.whole;
    Key best = 0;
    std::uint32_t best_at = 0;
    for (std::uint32_t first = part.begin; first < part.end; first += 32) {
      const std::uint32_t at = first + lane;
      const bool is_there = at < part.end, is_cut = is_there && at + 1 < interval.end && ranks_[at] != ranks_[at + 1];
      const int k = is_there ? classes_[at] : n_classes_;
      Count weight = is_there ? 1 : 0;
      if constexpr (kWeighted) {
        if (is_there) weight = static_cast<Count>(weights_[rows_[at]]);
      }
      if (__any_sync(kWarp, is_cut)) {
        Worth worth;
        std::int64_t left = 0;
        for (int c = 0; c < n_classes_; ++c) {
          if (totals_[c] == 0) continue;  // it would add zeros
          const Count moved = mine[c] + up_to_lane(k == c, weight);
          left += static_cast<std::int64_t>(moved);
          if (is_cut) worth.add(gains_, static_cast<std::int64_t>(moved), both_of(c));
        }
        const Key key = is_cut ? worth.key(gains_, whole, left) : Key{0};
        if (key > best) {  // places ascend: if equal, the first stays
          best = key;
          best_at = at;
        }
      }
      __syncwarp();  // all lanes have read the counts
      add_rows({first, min(first + 32, part.end)}, mine);
      __syncwarp();
    }
    reduce(best, best_at);
    if (lane == 0) {
      memory_.best[warp] = best;
      memory_.best_at[warp] = best_at;
    }
    __syncthreads();
  }

  /// The weight of the class's rows in this lane and those below it.
  __device__ __forceinline__ static Count up_to_lane(bool of_class, Count weight) {
    const unsigned lane = threadIdx.x % 32, all = __ballot_sync(kWarp, of_class);
    if constexpr (!kWeighted) return static_cast<Count>(__popc(all & kWarp >> (31 - lane)));
    if (all == 0) return 0;
    Count sum = of_class ? weight : 0;
#pragma unroll
    for (unsigned apart = 1; apart < 32; apart *= 2) {
      const Count o = __shfl_up_sync(kWarp, sum, apart);
      if (lane >= apart) sum += o;
    }
    return sum;
  }

  __device__ __forceinline__ static void reduce(Key& best, std::uint32_t& best_at) {
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) {
      Key other = __shfl_xor_sync(kWarp, static_cast<unsigned long long>(best), half);
      if constexpr (sizeof(Key) == 16) {
        other |= static_cast<Key>(__shfl_xor_sync(kWarp, static_cast<unsigned long long>(best >> 64), half)) << 64;
      }
      const std::uint32_t other_at = __shfl_xor_sync(kWarp, best_at, half);
      if (other > best || (other == best && other_at < best_at)) {
        best = other;
        best_at = other_at;
      }
    }
  }

  const std::uint32_t *ranks_, *rows_;
  const std::uint8_t* classes_;
  const std::int64_t* weights_;
  int n_classes_;
  const Gains& gains_;
  Count *counts_, *totals_, *left_;
  SearchMemory<Key>& memory_;
};

}  // namespace stope::discretize::cuda
