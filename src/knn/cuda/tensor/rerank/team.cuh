// A team: the warps that work on one query. It is one warp where few rows are looked at, so that many queries hide one
// another's latency. It is several warps where a list is long. Teams compute sums, places in an array and the k-th
// largest key together.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace stope::knn::cuda {

// Ampere and later have an instruction for these reductions.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ unsigned warp_sum(unsigned value) {
  return __reduce_add_sync(~0U, value);
}
__device__ __forceinline__ unsigned warp_max(unsigned value) {
  return __reduce_max_sync(~0U, value);
}
#else
__device__ __forceinline__ unsigned warp_sum(unsigned value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  return value;
}
__device__ __forceinline__ unsigned warp_max(unsigned value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned other = __shfl_xor_sync(~0U, value, offset);
    value = other > value ? other : value;
  }
  return value;
}
#endif

/// A block of threads is one team of several warps, or several teams of one warp.
template <int kWarps>
class Team {
 public:
  static constexpr int kThreads = kWarps * 32;
  struct Memory {
    unsigned words[2][kWarps];
    int placed;
  };

  __device__ explicit Team(Memory& memory) : memory_(memory) {}

  __device__ int thread() const { return static_cast<int>(threadIdx.x) % kThreads; }
  __device__ int lane() const { return static_cast<int>(threadIdx.x) % 32; }
  __device__ int warp() const { return thread() / 32; }
  __device__ void sync() const {
    if constexpr (kWarps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  __device__ unsigned sum(unsigned value) {
    return combine(warp_sum(value), [](unsigned a, unsigned b) { return a + b; });
  }
  __device__ unsigned max(unsigned value) {
    return combine(warp_max(value), [](unsigned a, unsigned b) { return a > b ? a : b; });
  }
  __device__ unsigned min(unsigned value) { return ~max(~value); }

  /// Gives places 0, 1, 2, ... to what threads keep, in any order. start_placing() comes first, then place() by all
  /// threads together as often as needed, then placed().
  __device__ void start_placing() {
    placed_ = 0;
    if constexpr (kWarps > 1) {
      sync();  // all have read the last count
      if (thread() == 0) memory_.placed = 0;
      sync();  // the count is 0 for all
    }
  }
  __device__ int place(bool kept) {
    const unsigned all = __ballot_sync(~0U, kept);
    if (all == 0) return 0;
    int first = placed_;
    if constexpr (kWarps == 1) {
      placed_ += __popc(all);
    } else {
      if (lane() == 0) first = atomicAdd(&memory_.placed, __popc(all));
      first = __shfl_sync(~0U, first, 0);
    }
    return first + __popc(all & ((1U << lane()) - 1U));
  }
  /// Returns how many places were given. The team sees what was written there.
  __device__ int placed() const {
    sync();
    return kWarps == 1 ? placed_ : memory_.placed;
  }

 private:
  // Two rows of words are used in turn, because a warp may write one while another still reads the other.
  template <class Combine>
  __device__ unsigned combine(unsigned value, const Combine& with) {
    if constexpr (kWarps == 1) {
      return value;
    } else {
      unsigned* const words = memory_.words[turn_];
      turn_ ^= 1;
      if (lane() == 0) words[warp()] = value;
      sync();  // all words are written
      value = words[0];
#pragma unroll
      for (int warp = 1; warp < kWarps; ++warp) value = with(value, words[warp]);
      return value;
    }
  }

  Memory& memory_;
  int placed_ = 0, turn_ = 0;
};

/// Keys that a thread of a team holds in registers. Here and below, `key(i)` is the key i places behind the thread's
/// own.
template <int kHeld>
struct HeldKeys {
  int keys[kHeld];

  template <class Team, class Key>
  __device__ HeldKeys(const Team& team, int n, const Key& key) {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) {
      keys[i] = i * Team::kThreads + team.thread() < n ? key(i * Team::kThreads) : 0;
    }
  }
  template <class Visit>
  __device__ __forceinline__ void visit(const Visit& visit) const {
#pragma unroll
    for (int i = 0; i < kHeld; ++i) visit(keys[i]);
  }
};

/// More keys than registers hold: they are computed from memory at every visit.
template <class Team, class Key>
struct ReadKeys {
  const Key& key;
  int n;  ///< number of keys from the thread's own on

  template <class Visit>
  __device__ __forceinline__ void visit(const Visit& visit) const {
#pragma unroll 1
    for (int i = 0; i < n; i += Team::kThreads) visit(key(i));
  }
};

/// Returns the k-th largest of a team's keys, or less than `step` below it if many keys are that near. Returns 0 if
/// fewer than k keys are not 0.
template <class Team, class Keys>
__device__ __forceinline__ int kth_largest(Team& team, int k, int step, const Keys& keys) {
  const auto reaching = [&](int trial) {
    unsigned count = 0;
    // The difference is negative if the key reaches the trial. This takes two instructions a key.
    keys.visit([&](int key) { count += static_cast<unsigned>(trial - 1 - key) >> 31; });
    return static_cast<int>(team.sum(count));
  };
  unsigned largest = 0, least = ~0U;
  keys.visit([&](int key) {
    const auto bits = static_cast<unsigned>(key);
    largest = bits > largest ? bits : largest;
    least = bits - 1U < least ? bits - 1U : least;  // 0 becomes the largest
  });
  // This halves the range of the keys. If there are k keys, k of them reach `low`; fewer than k reach `high` + 1.
  const int lowest = static_cast<int>(team.min(least) + 1U);
  int low = lowest, high = static_cast<int>(team.max(largest));
  while (high - low >= step) {
    const int trial = low + (high - low) / 2 + 1, count = reaching(trial);
    if (count == k) {  // usual after some rounds: exactly k keys reach the trial
      unsigned nearest = ~0U;
      keys.visit([&](int key) {
        const unsigned above = static_cast<unsigned>(key) - static_cast<unsigned>(trial);  // huge below the trial
        nearest = above < nearest ? above : nearest;
      });
      return trial + static_cast<int>(team.min(nearest));
    }
    if (count > k) {
      low = trial;
    } else {
      high = trial - 1;
    }
  }
  return low > lowest || reaching(1) >= k ? low : 0;
}

/// Returns the k-th largest of a team's n keys, as above.
template <class Team, class Key>
__device__ __forceinline__ int kth_largest(Team& team, int k, int step, int n, const Key& key) {
  if (n <= 4 * Team::kThreads) return kth_largest(team, k, step, HeldKeys<4>(team, n, key));
  if (n <= 8 * Team::kThreads) return kth_largest(team, k, step, HeldKeys<8>(team, n, key));
  return kth_largest(team, k, step, ReadKeys<Team, Key>{key, n - team.thread()});
}

}  // namespace stope::knn::cuda
