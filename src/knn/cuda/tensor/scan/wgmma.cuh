// Building blocks of the scans on Hopper, for sm_90a only: barriers and bulk copies into shared memory, asynchronous
// warpgroup matrix instructions, and what a thread does with its share of the scores.
#pragma once

#include <cstdint>
#include <type_traits>

#include "knn/cuda/tensor/scan/scan.hpp"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace stope::knn::cuda::sm90 {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// These barriers in shared memory count arrivals and copied bytes.
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count));
}
__device__ __forceinline__ void barriers_are_ready() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void barrier_expect(std::uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
/// Arrives at the barrier in the same place of block `rank` of the cluster.
__device__ __forceinline__ void barrier_arrive_at(std::uint64_t* barrier, int rank) {
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(rank)
      : "memory");
}
__device__ __forceinline__ void barrier_wait(std::uint64_t* barrier, int phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "WAIT:\n"
      "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra WAIT;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(phase)
      : "memory");
}

__device__ __forceinline__ void bulk_copy(void* to, const void* from, int bytes, std::uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}
/// Copies to the same place in every block of the cluster for which `blocks` has a bit; each block has its own barrier.
__device__ __forceinline__ void bulk_copy_to(std::uint16_t blocks, void* to, const void* from, int bytes,
                                             std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

__device__ __forceinline__ int cluster_rank() {
  std::uint32_t rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Describes a panel of rows in shared memory to the matrix instructions. Rows of 128 bytes are swizzled over 8 rows,
/// and 8 rows take 1024 bytes (64 units of 16). With rows of 64 bytes, 8 rows take 512 bytes.
template <int kRowBytes>
__device__ __forceinline__ std::uint64_t panel_descriptor(const void* panel) {
  static_assert(kRowBytes == 128 || kRowBytes == 64);
  constexpr std::uint64_t kLayout = kRowBytes == 128 ? 1 : 2;
  return (shared_address(panel) >> 4) | (std::uint64_t{1} << 16) | (std::uint64_t{kRowBytes * 8 / 16} << 32) |
         (kLayout << 62);
}

// clang-format off
#define STOPE_ACCUMULATORS_0_63 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, " \
  "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define STOPE_OPERANDS_64(kind, d) \
  kind(d[0]), kind(d[1]), kind(d[2]), kind(d[3]), kind(d[4]), kind(d[5]), kind(d[6]), kind(d[7]), kind(d[8]), \
  kind(d[9]), kind(d[10]), kind(d[11]), kind(d[12]), kind(d[13]), kind(d[14]), kind(d[15]), kind(d[16]), \
  kind(d[17]), kind(d[18]), kind(d[19]), kind(d[20]), kind(d[21]), kind(d[22]), kind(d[23]), kind(d[24]), \
  kind(d[25]), kind(d[26]), kind(d[27]), kind(d[28]), kind(d[29]), kind(d[30]), kind(d[31]), kind(d[32]), \
  kind(d[33]), kind(d[34]), kind(d[35]), kind(d[36]), kind(d[37]), kind(d[38]), kind(d[39]), kind(d[40]), \
  kind(d[41]), kind(d[42]), kind(d[43]), kind(d[44]), kind(d[45]), kind(d[46]), kind(d[47]), kind(d[48]), \
  kind(d[49]), kind(d[50]), kind(d[51]), kind(d[52]), kind(d[53]), kind(d[54]), kind(d[55]), kind(d[56]), \
  kind(d[57]), kind(d[58]), kind(d[59]), kind(d[60]), kind(d[61]), kind(d[62]), kind(d[63])
// clang-format on

/// Computes d = a * b (+ d) for halves: a is 64 rows x 16 columns from registers, b is 128 rows from shared memory.
template <bool kAdd>
__device__ __forceinline__ void multiply(float (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" STOPE_ACCUMULATORS_0_63
      "}, {%64, %65, %66, %67}, %68, add, 1, 1, 0;\n}\n"
      : STOPE_OPERANDS_64("+f", d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(kAdd ? 1 : 0));
}

/// Computes d = a * b (+ d) likewise for 32 columns of bytes.
template <bool kAdd>
__device__ __forceinline__ void multiply(int (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {" STOPE_ACCUMULATORS_0_63
      "}, {%64, %65, %66, %67}, %68, add;\n}\n"
      : STOPE_OPERANDS_64("+r", d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(kAdd ? 1 : 0));
}

/// Computes d = a * b (+ d) for halves with both operands in shared memory.
template <bool kAdd>
__device__ __forceinline__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" STOPE_ACCUMULATORS_0_63
      "}, %64, %65, add, 1, 1, 0, 0;\n}\n"
      : STOPE_OPERANDS_64("+f", d)
      : "l"(a), "l"(b), "n"(kAdd ? 1 : 0));
}

__device__ __forceinline__ void multiply_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void multiply_end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most kLeft of the groups begun are unfinished.
template <int kLeft>
__device__ __forceinline__ void multiply_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
/// Keeps the compiler from moving accesses of the accumulators across the asynchronous instructions.
__device__ __forceinline__ void pin(float (&d)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
__device__ __forceinline__ void pin(int (&d)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

// A thread holds 2 of 64 queries, 8 apart, and for each of them 32 of 128 rows: 8 * j + column and the next, for j in
// [0, 16) and column = lane % 4 * 2.

/// Two scores that lie next to each other: floats, or whole numbers if images are in bytes.
template <class Score>
struct alignas(8) Pair {
  Score x, y;
};

/// Returns the scores of rows 8 * j + column and the next for the thread's query kOdd.
template <int kOdd, class Score>
__device__ __forceinline__ Pair<Score> scores_of(const Score (&scores)[64], int j) {
  return {scores[j * 4 + kOdd * 2], scores[j * 4 + kOdd * 2 + 1]};
}

// Scores are compared as integers, which have a maximum of three in one instruction. Scores of halves are positive
// where they matter (ScanJob), so their bits have the same order.
__device__ __forceinline__ int bits(float score) {
  return __float_as_int(score);
}
__device__ __forceinline__ int bits(int score) {
  return score;
}

/// Converts back to a float, for the few scores that leave the registers.
template <class Score>
__device__ __forceinline__ float score_of_bits(int score) {
  if constexpr (std::is_same_v<Score, int>) {
    return score_of_bytes(score);
  } else {
    return __int_as_float(score);
  }
}

/// A value that no score is below: maxima begin with it.
template <class Score>
__device__ __forceinline__ int least_bits() {
  return std::is_same_v<Score, int> ? kNeverOfBytes : bits(kNever);
}

/// Keeps maxima, over tiles, of four disjoint groups of the rows that a thread holds for a query.
template <int kOdd, class Score>
__device__ __forceinline__ void keep_maxima(const Score (&scores)[64], int (&best)[4]) {
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    const Pair<Score> pair = scores_of<kOdd>(scores, j);
    best[j % 4] = __vimax3_s32(best[j % 4], bits(pair.x), bits(pair.y));
  }
}

/// Returns a threshold in the form in which scores are compared. An image that is no query gets one above any score,
/// even kAlways, so that nothing is listed. A whole number reaches a threshold if it reaches the next whole number.
template <class Score>
__device__ __forceinline__ int threshold_of(const ScanJob& job, const GroupLists& lists, std::int64_t query) {
  if (query >= job.n_queries) return 0x7fffffff;
  if constexpr (std::is_same_v<Score, int>) {
    return __float2int_ru(lists.thresholds[query]);  // never below 0; infinity becomes the largest number
  } else {
    return bits(lists.thresholds[query]);
  }
}

/// A thread's list of one query: up to kMost candidates in shared memory, kStride apart. Further candidates go to the
/// query's list at once.
template <int kMost, int kStride>
struct PrivateList {
  ListedGroup* entries;
  int n = 0;

  __device__ __forceinline__ void append(const GroupLists& lists, std::int64_t query, const ListedGroup& candidate) {
    if (n < kMost) {
      entries[n++ * kStride] = candidate;
      return;
    }
    const std::int32_t at = atomicAdd(lists.counts + query, 1);
    if (at < lists.capacity) lists.candidates[query * lists.capacity + at] = candidate;
  }

  __device__ void flush(const GroupLists& lists, std::int64_t query) const {
    if (n == 0) return;
    const std::int32_t first = atomicAdd(lists.counts + query, n);
    for (int e = 0; e < n && first + e < lists.capacity; ++e) {
      lists.candidates[query * lists.capacity + first + e] = entries[e * kStride];
    }
  }
};

/// Lists the groups of 4 rows whose best score reaches the threshold. `first` is the row of the tile's column 0 plus
/// the thread's column.
template <int kOdd, class Score, class List>
__device__ __forceinline__ void list_groups(const Score (&scores)[64], int threshold, std::int32_t first,
                                            const GroupLists& lists, std::int64_t query, List& list) {
  constexpr int kGroups = 32 / kGroupRows;
  static_assert(kGroups == 8);
  int group[kGroups];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const Pair<Score> low = scores_of<kOdd>(scores, 2 * g), high = scores_of<kOdd>(scores, 2 * g + 1);
    group[g] = max(__vimax3_s32(bits(low.x), bits(low.y), bits(high.x)), bits(high.y));
  }
  const int best = __vimax3_s32(__vimax3_s32(group[0], group[1], group[2]), __vimax3_s32(group[3], group[4], group[5]),
                                max(group[6], group[7]));
  if (best < threshold) return;
  std::uint32_t hits = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) hits |= (group[g] >= threshold ? 1U : 0U) << g;
  while (hits != 0) {
    const int g = __ffs(static_cast<int>(hits)) - 1;
    hits &= hits - 1;
    // Registers have no run-time index, so this halves the candidates three times.
    const int a = (g & 1) != 0 ? group[1] : group[0], b = (g & 1) != 0 ? group[3] : group[2];
    const int c = (g & 1) != 0 ? group[5] : group[4], d = (g & 1) != 0 ? group[7] : group[6];
    const int low = (g & 2) != 0 ? b : a, high = (g & 2) != 0 ? d : c;
    list.append(lists, query, {score_of_bits<Score>((g & 4) != 0 ? high : low), first + g * 16});
  }
}

}  // namespace stope::knn::cuda::sm90

#endif
