// Best cuts of columns under permutations of the labels. A warp walks the steps of a column
// (discretize/cuda/column_steps.cuh), and each lane has permutations of its own.
#pragma once

#include <cstdint>

#include "discretize/cuda/job.hpp"
#include "discretize/permuted_memory.hpp"
#include "discretize/score.hpp"

namespace stope::discretize::cuda {

inline constexpr int kPermutedWarps = 8, kWordsOfWarp = static_cast<int>(kPermutationsOfWarp) / 32;
static_assert(kWordsOfWarp == 4, "a row's labels of a warp are one uint4");

/// All numbers are below 2^31: rows are at most 65,535.
struct PermutedJob {
  const uint4* steps;    ///< four steps each
  std::int64_t n_fours;  ///< of a column
  std::int64_t n_columns;
  const std::int64_t* w;  ///< of each column: its best W, or kUndecided
  std::int32_t* as_good;  ///< of each column; permutations are added
  std::int32_t* highest;  ///< of each permutation
  std::int64_t n_permutations, n_rows;
  const std::int64_t* totals;
  int n_classes;
  const std::uint8_t* labels;  ///< as pack_two_kernel or pack_many_kernel writes them
  std::int64_t label_stride;   ///< from a row to the next; of bytes only
};

/// Writes labels of two classes as bits: [group of 128 permutations][row][word]. `classes`: [permutation][row].
__global__ void __launch_bounds__(32 * kPermutedWarps)
    pack_two_kernel(const std::uint8_t* classes, std::int64_t n_rows, std::int64_t n_permutations, std::uint32_t* words,
                    std::int64_t n_words) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n_words) return;
  const std::int64_t row = i % n_rows, first = i / n_rows * 32;  // neighbouring threads read neighbouring rows
  std::uint32_t word = 0;
  for (int bit = 0; bit < 32 && first + bit < n_permutations; ++bit) {
    word |= static_cast<std::uint32_t>(classes[(first + bit) * n_rows + row]) << bit;
  }
  const std::int64_t group = first / kPermutationsOfWarp;
  words[(group * n_rows + row) * kWordsOfWarp + first % kPermutationsOfWarp / 32] = word;
}

/// Writes labels as bytes: [row][permutation]; 0 behind the last permutation.
__global__ void __launch_bounds__(32 * kPermutedWarps)
    pack_many_kernel(const std::uint8_t* classes, std::int64_t n_rows, std::int64_t n_permutations,
                     std::uint8_t* labels, std::int64_t stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n_rows * stride) return;
  const std::int64_t row = i / stride, permutation = i % stride;
  labels[i] = permutation < n_permutations ? classes[permutation * n_rows + row] : std::uint8_t{0};
}

/// Calls work(step, position) for all steps of a column, and also for up to three behind its last row.
template <class Work>
__device__ __forceinline__ void walk(const PermutedJob& job, std::int64_t column, const Work& work) {
  const uint4* const fours = job.steps + column * job.n_fours;
  const auto n = static_cast<int>(job.n_fours);
  for (int i = 0; i < n; ++i) {
    const uint4 four = __ldg(fours + i);
    work(4 * i, four);
  }
}

/// Two classes. W follows from the rows of the second class on the left (discernibility_of_two). A row's labels are a
/// bit per permutation: four words serve the warp's 128.
__global__ void __launch_bounds__(32 * kPermutedWarps) permuted_two_kernel(const __grid_constant__ PermutedJob job) {
  constexpr unsigned kAll = 0xffffffffU;
  __shared__ unsigned highest_of_block[kPermutationsOfWarp];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * kPermutationsOfWarp;
  const uint4* const labels = reinterpret_cast<const uint4*>(job.labels) + blockIdx.y * job.n_rows;
  const auto n_second = static_cast<unsigned>(job.totals[1]), n_first = static_cast<unsigned>(job.totals[0]);
  const unsigned mine = 1U << lane;
  for (int i = static_cast<int>(threadIdx.x); i < kPermutationsOfWarp; i += 32 * kPermutedWarps) {
    highest_of_block[i] = 0;
  }
  __syncthreads();
  unsigned highest[kWordsOfWarp] = {};
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kPermutedWarps;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kPermutedWarps + warp; column < job.n_columns;
       column += step) {
    const std::int64_t observed = job.w[column];
    if (observed == kUndecided) continue;
    unsigned second[kWordsOfWarp] = {}, best[kWordsOfWarp] = {};
    walk(job, column, [&](int position, const uint4& four) {
      const unsigned steps[4] = {four.x, four.y, four.z, four.w};
      uint4 rows[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) rows[i] = __ldg(labels + steps[i] / 2);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const unsigned words[kWordsOfWarp] = {rows[i].x, rows[i].y, rows[i].z, rows[i].w};
#pragma unroll
        for (int j = 0; j < kWordsOfWarp; ++j) second[j] += (words[j] & mine) != 0 ? 1 : 0;
        if (steps[i] % 2 == 0) continue;  // the same for the whole warp
        const auto left = static_cast<unsigned>(position + i + 1);
#pragma unroll
        for (int j = 0; j < kWordsOfWarp; ++j) {
          best[j] = max(best[j], discernibility_of_two<unsigned>(second[j], left, n_second, n_first));
        }
      }
    });
    int as_good = 0;
#pragma unroll
    for (int j = 0; j < kWordsOfWarp; ++j) {
      const bool is_one = first + 32 * j + lane < job.n_permutations;
      as_good += __popc(__ballot_sync(kAll, is_one && best[j] >= static_cast<unsigned>(observed)));
      highest[j] = max(highest[j], best[j]);
    }
    if (lane == 0) atomicAdd(job.as_good + column, as_good);
  }
#pragma unroll
  for (int j = 0; j < kWordsOfWarp; ++j) atomicMax(highest_of_block + 32 * j + lane, highest[j]);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kPermutationsOfWarp; i += 32 * kPermutedWarps) {
    if (first + i < job.n_permutations) {
      atomicMax(job.highest + first + i, static_cast<std::int32_t>(highest_of_block[i]));
    }
  }
}

/// Any number of classes. A row of class k that goes left adds discernibility_step() to W: N - N_k + 2 L_k - 2 L. The
/// lane keeps the first three terms of every class in shared memory: [warp][class][lane].
__global__ void __launch_bounds__(32 * kPermutedWarps) permuted_many_kernel(const __grid_constant__ PermutedJob job) {
  extern __shared__ int terms_of_block[];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int n_warps = static_cast<int>(blockDim.x) / 32, n_rows = static_cast<int>(job.n_rows);
  int* const terms = terms_of_block + warp * job.n_classes * 32 + lane;
  const std::int64_t permutation = static_cast<std::int64_t>(blockIdx.y) * 32 + lane;
  const std::uint8_t* const labels = job.labels + permutation;
  const bool is_one = permutation < job.n_permutations;
  int highest = 0;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * n_warps;
  for (std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * n_warps + warp; column < job.n_columns;
       column += step) {
    const std::int64_t observed = job.w[column];
    if (observed == kUndecided) continue;
    for (int k = 0; k < job.n_classes; ++k) terms[32 * k] = n_rows - static_cast<int>(job.totals[k]);
    int w = 0, best = 0;
    walk(job, column, [&](int position, const uint4& four) {
      const unsigned steps[4] = {four.x, four.y, four.z, four.w};
      int classes[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) classes[i] = __ldg(labels + steps[i] / 2 * job.label_stride);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        int& term = terms[32 * classes[i]];
        w += term - 2 * (position + i);
        term += 2;
        best = steps[i] % 2 != 0 ? max(best, w) : best;
      }
    });
    const int as_good = __popc(__ballot_sync(0xffffffffU, is_one && best >= static_cast<int>(observed)));
    highest = max(highest, best);
    if (lane == 0) atomicAdd(job.as_good + column, as_good);
  }
  if (is_one) atomicMax(job.highest + permutation, highest);
}

}  // namespace stope::discretize::cuda
