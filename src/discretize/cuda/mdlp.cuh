// The kernel of MDLP (mdlp.hpp): the search of a sorted column.
//
// A block takes one interval of its column after another. Each warp has a part of the interval: it counts the classes
// there, and then, from the counts in front of its part, tries every cut in it. All sums of doubles are those of
// discretize/mdlp.cpp, in its order.
#pragma once

#include <cstdint>

#include "discretize/cuda/gains.cuh"
#include "discretize/cuda/mdlp.hpp"
#include "discretize/mdlp_price.hpp"

namespace stope::discretize::cuda {

inline constexpr int kMostMdlpThreads = 1024, kMostMdlpWarps = kMostMdlpThreads / 32;
inline constexpr unsigned kWarp = 0xffffffffU;

/// Places [begin, end) of a sorted column.
struct Places {
  std::uint32_t begin, end;

  __device__ __forceinline__ std::uint32_t size() const { return end - begin; }
  /// The part of this warp, or an empty one. Parts follow one another.
  __device__ __forceinline__ Places of_warp() const {
    const std::uint32_t n_warps = blockDim.x / 32, chunks = (size() + 31) / 32;
    const std::uint32_t of_warp = (chunks + n_warps - 1) / n_warps * 32;
    const std::uint32_t first = min(begin + threadIdx.x / 32 * of_warp, end);
    return {first, min(first + of_warp, end)};
  }
};

/// A block's shared memory, but for counts of classes.
struct MdlpMemory {
  std::uint32_t begins[cuda_abi::kMostSetCuts + 1], ends[cuda_abi::kMostSetCuts + 1];  ///< open intervals, a stack
  std::uint32_t found[cuda_abi::kMostSetCuts];                                         ///< last places before cuts
  unsigned long long best[kMostMdlpWarps];                                             ///< of each warp
  std::uint32_t best_at[kMostMdlpWarps];
  double entropy;  ///< total_entropy() of the interval
  int n_open, n_found, n_present;
  std::uint32_t place;
};

/// Words of dynamic shared memory: counts of each warp, of the interval, and of what is left of its best cut.
inline constexpr std::int64_t mdlp_words(std::int64_t n_warps, std::int64_t n_classes) {
  return (n_warps + 2) * n_classes;
}

/// One sorted column, for the block that cuts it.
class MdlpColumn {
 public:
  __device__ __forceinline__ MdlpColumn(const MdlpJob& job, std::int64_t column, std::uint32_t* counters,
                                        MdlpMemory& memory)
      : ranks_(job.orders.ranks + column * job.orders.stride),
        classes_(job.orders.classes + column * job.orders.stride),
        n_classes_(job.n_classes),
        gains_(job.gains),
        counts_(counters),
        totals_(counters + blockDim.x / 32 * static_cast<unsigned>(job.n_classes)),
        left_(totals_ + job.n_classes),
        memory_(memory) {}

  /// Returns the last place before the best cut of an interval, or its end if no cut pays: the same to all threads.
  __device__ std::uint32_t best_cut(const Places& interval) {
    if (interval.size() < 2) return interval.end;
    count(interval);
    if (memory_.n_present < 2) return interval.end;
    const NodeGains node{interval.size(), 0, memory_.entropy};
    try_cuts(interval, node);
    int winner = 0;
    unsigned long long best = memory_.best[0];
    for (int warp = 1; warp < static_cast<int>(blockDim.x / 32); ++warp) {  // parts ascend: if equal, the first stays
      if (memory_.best[warp] <= best) continue;
      best = memory_.best[warp];
      winner = warp;
    }
    if (best == 0) return interval.end;
    const std::uint32_t at = memory_.best_at[winner];
    count_left(interval, winner, at);
    return pays(__longlong_as_double(static_cast<long long>(best)), interval, at) ? at : interval.end;
  }

 private:
  /// Adds rows to counts that several warps may share.
  __device__ __forceinline__ void add_rows(const Places& part, std::uint32_t* to) const {
    const std::uint32_t lane = threadIdx.x % 32;
    for (std::uint32_t first = part.begin; first < part.end; first += 32) {
      const bool is_there = first + lane < part.end;
      const int k = is_there ? classes_[first + lane] : n_classes_;
      const unsigned same = __match_any_sync(kWarp, k);
      if (is_there && static_cast<int>(lane) == __ffs(static_cast<int>(same)) - 1) {
        atomicAdd(to + k, static_cast<unsigned>(__popc(same)));
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
      std::uint32_t in_front = 0;
      for (int w = 0; w < n_warps; ++w) {
        const std::uint32_t own = counts_[w * n_classes_ + k];
        counts_[w * n_classes_ + k] = in_front;
        in_front += own;
      }
      totals_[k] = in_front;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const PricedPart both = priced(interval.size(), [&](int k) { return totals_[k]; }, memory_.entropy);
      memory_.n_present = static_cast<int>(both.n_present);
    }
    __syncthreads();
  }

  /// Finds each warp's best cut: the highest gain as bits, and the lowest place that has it. Afterwards counts_ holds
  /// what is in front of the next warp's part.
  __device__ __forceinline__ void try_cuts(const Places& interval, const NodeGains& node) {
    const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const unsigned up_to_lane = kWarp >> (31 - lane);
    std::uint32_t* const mine = counts_ + static_cast<int>(warp) * n_classes_;
    const Places part = interval.of_warp();
    unsigned long long best = 0;
    std::uint32_t best_at = 0;
    for (std::uint32_t first = part.begin; first < part.end; first += 32) {
      const std::uint32_t at = first + lane;
      const bool is_there = at < part.end, is_cut = is_there && at + 1 < interval.end && ranks_[at] != ranks_[at + 1];
      const int k = is_there ? classes_[at] : n_classes_;
      if (__any_sync(kWarp, is_cut)) {
        double left = 0.0, right = 0.0;
        for (int c = 0; c < n_classes_; ++c) {
          const std::uint32_t both = totals_[c];
          if (both == 0) continue;  // it would add zeros
          const unsigned of_class = __ballot_sync(kWarp, k == c);
          if (!is_cut) continue;
          const std::uint32_t count = mine[c] + static_cast<std::uint32_t>(__popc(of_class & up_to_lane));
          left = __dadd_rn(left, information_of(gains_, count));
          right = __dadd_rn(right, information_of(gains_, both - count));
        }
        const unsigned long long gain =
            is_cut ? entropy_bits(gains_, node, at + 1 - interval.begin, left, right) : 0ULL;
        if (gain > best) {  // places ascend: if equal, the first stays
          best = gain;
          best_at = at;
        }
      }
      const unsigned same = __match_any_sync(kWarp, k);  // all lanes have read the counts
      if (is_there && static_cast<int>(lane) == __ffs(static_cast<int>(same)) - 1) {
        mine[k] += static_cast<std::uint32_t>(__popc(same));
      }
      __syncwarp();
    }
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) {
      const unsigned long long other = __shfl_xor_sync(kWarp, best, half);
      const std::uint32_t other_at = __shfl_xor_sync(kWarp, best_at, half);
      if (other > best || (other == best && other_at < best_at)) {
        best = other;
        best_at = other_at;
      }
    }
    if (lane == 0) {
      memory_.best[warp] = best;
      memory_.best_at[warp] = best_at;
    }
    __syncthreads();
  }

  /// Counts the rows of the interval up to a place in the winner's part.
  __device__ __forceinline__ void count_left(const Places& interval, int winner, std::uint32_t at) {
    for (int k = static_cast<int>(threadIdx.x); k < n_classes_; k += static_cast<int>(blockDim.x)) {
      left_[k] = winner > 0 ? counts_[(winner - 1) * n_classes_ + k] : 0;
    }
    __syncthreads();
    const std::uint32_t n_warps = blockDim.x / 32;
    const std::uint32_t of_warp = ((interval.size() + 31) / 32 + n_warps - 1) / n_warps * 32;
    const Places rest{interval.begin + static_cast<std::uint32_t>(winner) * of_warp, at + 1};
    add_rows(rest.of_warp(), left_);
    __syncthreads();
  }

  __device__ __forceinline__ bool pays(double gain, const Places& interval, std::uint32_t at) {
    if (threadIdx.x == 0) {
      double entropy;
      const std::uint32_t n = interval.size(), n_left = at + 1 - interval.begin;
      const PricedPart both{static_cast<double>(memory_.n_present), memory_.entropy / static_cast<double>(n)};
      const PricedPart left = priced(n_left, [&](int k) { return left_[k]; }, entropy);
      const PricedPart right = priced(n - n_left, [&](int k) { return totals_[k] - left_[k]; }, entropy);
      memory_.n_present = cut_pays(gain, both, left, right, n, static_cast<double>(n)) ? 1 : 0;
    }
    __syncthreads();
    return memory_.n_present == 1;
  }

  /// For one thread. `total` becomes total_entropy() of the n rows.
  template <class CountOf>
  __device__ __forceinline__ PricedPart priced(std::uint32_t n, const CountOf& count_of, double& total) const {
    double sum = 0.0;
    int n_present = 0;
    for (int k = 0; k < n_classes_; ++k) {
      const std::uint32_t count = count_of(k);
      sum = __dadd_rn(sum, information_of(gains_, count));
      n_present += count > 0 ? 1 : 0;
    }
    total = __dadd_rn(information_of(gains_, n), -sum);
    return {static_cast<double>(n_present), total / static_cast<double>(n)};
  }

  const std::uint32_t* ranks_;
  const std::uint8_t* classes_;
  int n_classes_;
  const Gains& gains_;
  std::uint32_t *counts_, *totals_, *left_;
  MdlpMemory& memory_;
};

/// A block of whole warps takes a column. Shared memory: mdlp_words().
__global__ void __launch_bounds__(kMostMdlpThreads) mdlp_kernel(const __grid_constant__ MdlpJob job) {
  extern __shared__ std::uint32_t counters[];
  __shared__ MdlpMemory memory;
  const std::int64_t number = blockIdx.x;
  const std::uint32_t* const rows = job.orders.rows + number * job.orders.stride;
  if (threadIdx.x == 0) {
    memory.begins[0] = job.n_missing[number];
    memory.ends[0] = static_cast<std::uint32_t>(job.n_rows);
    memory.n_open = 1;
    memory.n_found = 0;
  }
  __syncthreads();
  MdlpColumn column(job, number, counters, memory);
  while (memory.n_open > 0) {
    const int top = memory.n_open - 1;
    const Places interval{memory.begins[top], memory.ends[top]};
    const std::uint32_t at = column.best_cut(interval);
    __syncthreads();  // all threads have read the stack
    if (threadIdx.x == 0) {
      memory.n_open = top;
      if (at < interval.end && memory.n_found == cuda_abi::kMostSetCuts) {
        memory.n_open = 0;
        memory.n_found = static_cast<int>(cuda_abi::kUndecided);
      } else if (at < interval.end) {
        memory.found[memory.n_found++] = at;
        memory.ends[top] = at + 1;
        memory.begins[top + 1] = at + 1;
        memory.ends[top + 1] = interval.end;
        memory.n_open = top + 2;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    if (memory.n_found > 0) {
      memory.place = atomicAdd(job.n_written, static_cast<unsigned>(memory.n_found));
      const auto end = static_cast<std::int64_t>(memory.place) + memory.n_found;
      if (end > job.most) memory.n_found = static_cast<int>(cuda_abi::kUndecided);
    }
    job.n_cuts[number] = memory.n_found;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < memory.n_found; i += static_cast<int>(blockDim.x)) {
    const std::uint32_t at = memory.found[i];
    job.cuts[memory.place + static_cast<std::uint32_t>(i)] = {rows[at], rows[at + 1],
                                                              static_cast<std::int32_t>(number)};
  }
}

}  // namespace stope::discretize::cuda
