// The best cut of columns of up to 1024 rows. A warp takes a column and sorts its words (code of the value, class) in
// registers.
#pragma once

#include <cstdint>

#include "discretize/cuda/codes.cuh"
#include "discretize/cuda/gains.cuh"
#include "discretize/cuda/job.hpp"
#include "discretize/cuda/warp_reduce.cuh"
#include "discretize/cuda/warp_sort.cuh"

namespace stope::discretize::cuda {

inline constexpr int kShortThreads = 256, kPositions = static_cast<int>(kShortRows);

/// Columns of one type, one behind the other, and what is to be found of each.
template <class T>
struct ShortJob {
  Columns<T> columns;
  CutsThere cuts;
  const int* list;  ///< the columns to look at, and how many, where kIsListed; else all
  const int* n_list;
  int* left;  ///< columns whose codes take more bits than a word has, and how many; null: they stay undecided
  int* n_left;
};

/// What a cut is worth: W of two classes, or of more, or a gain.
enum class Worth { two, pairs, gain };

/// True for floats whose words of 32 bits were too short.
template <class T, class Word>
inline constexpr bool kIsListed = sizeof(T) < sizeof(Word);

template <int n>
struct Prefix {
  /// values[i] becomes the sum of all values up to it, including those of the lanes before.
  static __device__ __forceinline__ void sums(int (&values)[n], int lane) {
#pragma unroll
    for (int i = 1; i < n; ++i) values[i] += values[i - 1];
    int before = values[n - 1];
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const int o = __shfl_up_sync(0xffffffffU, before, apart);
      if (lane >= apart) before += o;
    }
    before -= values[n - 1];
#pragma unroll
    for (int i = 0; i < n; ++i) values[i] += before;
  }
};

/// Computes W of a cut behind each of the words. kTwo: there are two classes.
template <bool kTwo, class T, class Word, int n>
__device__ __forceinline__ void scores(const Columns<T>& job, const Word (&words)[n], int lane, int (&w)[n]) {
  if constexpr (kTwo) {
    const auto n_first = static_cast<int>(job.totals[0]), n_second = static_cast<int>(job.totals[1]);
    int second[n];
#pragma unroll
    for (int i = 0; i < n; ++i) second[i] = static_cast<int>(words[i] & 1);
    Prefix<n>::sums(second, lane);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const int first = lane * n + i + 1 - second[i];
      w[i] = first * (n_second - second[i]) + second[i] * (n_first - first);
    }
  } else {
    const int mask = (1 << job.class_bits) - 1;
#pragma unroll
    for (int i = 0; i < n; ++i) w[i] = 0;
    for (int k = 0; k < job.n_classes; ++k) {
      int here[n];
#pragma unroll
      for (int i = 0; i < n; ++i) here[i] = (static_cast<int>(words[i]) & mask) == k ? 1 : 0;
      Prefix<n>::sums(here, lane);
      const int others = static_cast<int>(job.n_rows - job.totals[k]);
#pragma unroll
      for (int i = 0; i < n; ++i) {  // the row's gain (score.hpp); both counts are from before it
        if ((static_cast<int>(words[i]) & mask) == k) w[i] = others - 2 * (lane * n + i - (here[i] - 1));
      }
    }
    Prefix<n>::sums(w, lane);
  }
}

/// The best cut of a column: its W, or the bits of its gain, and the lowest position that has it. Each lane has found
/// its own, and in the end all have the best.
struct ShortBest {
  unsigned long long worth = 0;
  int position = 0;

  __device__ __forceinline__ void offer(unsigned long long other, int at) {
    if (other > worth) {  // positions ascend: if equal, the first stays
      worth = other;
      position = at;
    }
  }
  __device__ __forceinline__ void reduce() {
    const unsigned long long highest = reduce_max(worth);
    const unsigned have = __ballot_sync(0xffffffffU, worth == highest);
    position = __shfl_sync(0xffffffffU, position, __ffs(static_cast<int>(have)) - 1);  // lanes have ascending positions
    worth = highest;
  }
};

/// Finds the cut of the highest gain in Gini impurity. Bit i of `cuts`: there is a cut behind word i.
template <class T, class Word, int n>
__device__ __forceinline__ ShortBest best_gini(const Columns<T>& job, const Word (&words)[n], unsigned cuts, int lane) {
  int w[n];
  scores<false>(job, words, lane, w);
  const int mask = (1 << job.class_bits) - 1;
  int of_classes[n];  // behind the last row, a word's class may be none
#pragma unroll
  for (int i = 0; i < n; ++i) {
    of_classes[i] = static_cast<int>(__ldg(job.totals + min(static_cast<int>(words[i]) & mask, job.n_classes - 1)));
  }
  Prefix<n>::sums(of_classes, lane);
  ShortBest best;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int position = lane * n + i;
    if ((cuts >> i & 1) != 0)
      best.offer(gini_bits(job.all, position + 1, w[i], of_classes[i], Rounded::counts), position);
  }
  return best;
}

/// The same in entropy.
template <class T, class Word, int n>
__device__ __forceinline__ ShortBest best_entropy(const Columns<T>& job, const Word (&words)[n], unsigned cuts,
                                                  int lane) {
  const int mask = (1 << job.class_bits) - 1;
  double left[n], right[n];
#pragma unroll
  for (int i = 0; i < n; ++i) left[i] = right[i] = 0.0;
  for (int k = 0; k < job.n_classes; ++k) {
    int here[n];
#pragma unroll
    for (int i = 0; i < n; ++i) here[i] = (static_cast<int>(words[i]) & mask) == k ? 1 : 0;
    Prefix<n>::sums(here, lane);
    const auto total = static_cast<int>(job.totals[k]);
#pragma unroll
    for (int i = 0; i < n; ++i) {
      const int count = min(here[i], total);  // words behind the last row may count, too
      left[i] = __dadd_rn(left[i], information_of(job.gains, count));
      right[i] = __dadd_rn(right[i], information_of(job.gains, total - count));
    }
  }
  ShortBest best;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int position = lane * n + i;
    if ((cuts >> i & 1) != 0) best.offer(entropy_bits(job.gains, job.all, position + 1, left[i], right[i]), position);
  }
  return best;
}

/// Finds the cut of the highest W. W and the lowest position fit 32 bits.
template <bool kTwo, class T, class Word, int n>
__device__ __forceinline__ ShortBest best_pairs(const Columns<T>& job, const Word (&words)[n], unsigned cuts,
                                                int lane) {
  int w[n];
  scores<kTwo>(job, words, lane, w);
  unsigned best = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const unsigned worth = static_cast<unsigned>(w[i]) * kPositions + (kPositions - 1 - (lane * n + i));
    best = max(best, (cuts >> i & 1) != 0 ? worth : 0);
  }
  best = reduce_max(best);
  return {best / kPositions, kPositions - 1 - static_cast<int>(best % kPositions)};
}

/// Searches one column. A word is code << class_bits | class; words behind the last row are all ones.
template <Worth kWorth, class T, class Word, int n>
__device__ __forceinline__ void best_cut(const ShortJob<T>& whole, std::int64_t column, int lane) {
  const Columns<T>& job = whole.columns;
  using Key = typename KeyOf<T>::Signed;
  const int class_bits = kWorth == Worth::two ? 1 : job.class_bits;
  const T* const x = job.values + column * job.n_rows;
  const auto n_rows = static_cast<int>(job.n_rows);
  Key keys[n];
  KeyRange<T> range;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int row = i * 32 + lane;
    const T value = __ldcs(x + min(row, n_rows - 1));
    keys[i] = signed_key(value);
    range.add(keys[i]);
  }
  reduce(range);
  const Codes<T> codes(range);
  if (static_cast<Word>(codes.highest()) >= static_cast<Word>(~Word{0}) >> class_bits) {
    if (lane == 0 && whole.left == nullptr) whole.cuts.w[column] = kUndecided;
    if (lane == 0 && whole.left != nullptr) whole.left[atomicAdd(whole.n_left, 1)] = static_cast<int>(column);
    return;
  }
  Word words[n];
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const int row = i * 32 + lane;
    const Word word = static_cast<Word>(codes.code(keys[i])) << class_bits | job.classes[min(row, n_rows - 1)];
    words[i] = row < n_rows ? word : ~Word{0};
  }
  sort_warp(words, lane);
  const Word beyond = __shfl_down_sync(0xffffffffU, words[0], 1);
  unsigned cuts = 0;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    const Word next = i + 1 < n ? words[i + 1] : beyond;
    cuts |= lane * n + i + 1 < n_rows && (next ^ words[i]) >> class_bits != 0 ? 1U << i : 0U;
  }
  ShortBest best;
  if constexpr (kWorth == Worth::gain) {
    best = job.gains.score == cuda_abi::Score::gini ? best_gini(job, words, cuts, lane)
                                                    : best_entropy(job, words, cuts, lane);
    best.reduce();
  } else {
    best = best_pairs < kWorth == Worth::two > (job, words, cuts, lane);
  }
  if (best.worth == 0) {
    if (lane == 0) whole.cuts.w[column] = 0;
    return;
  }
  const int i_best = best.position - lane * n;
  if (i_best < 0 || i_best >= n) return;
  Word low = 0, high = beyond;
#pragma unroll
  for (int i = 0; i < n; ++i) {
    low = i_best == i ? words[i] : low;
    if (i > 0) high = i_best == i - 1 ? words[i] : high;
  }
  whole.cuts.w[column] = static_cast<std::int64_t>(best.worth);
  whole.cuts.low[column] = codes.value(static_cast<typename KeyOf<T>::Unsigned>(low >> class_bits));
  whole.cuts.high[column] = codes.value(static_cast<typename KeyOf<T>::Unsigned>(high >> class_bits));
}

template <Worth kWorth, class T, class Word, int n>
__global__ void __launch_bounds__(kShortThreads) short_columns_kernel(const __grid_constant__ ShortJob<T> job) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (kShortThreads / 32) + threadIdx.x / 32;
  if constexpr (kIsListed<T, Word>) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * (kShortThreads / 32);
    for (std::int64_t i = first; i < *job.n_list; i += step) best_cut<kWorth, T, Word, n>(job, job.list[i], lane);
  } else if (first < job.columns.n_columns) {
    best_cut<kWorth, T, Word, n>(job, first, lane);
  }
}

}  // namespace stope::discretize::cuda
