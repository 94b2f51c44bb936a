// What the scans on Hopper are made of: barriers and bulk copies into shared memory, asynchronous warpgroup matrix
// instructions, and what is done with a thread's share of the scores. For sm_90a only.
#pragma once

#include <cstdint>

#include "knn/cuda/filter_scan.hpp"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace stope::knn::cuda::sm90 {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Barriers in shared memory that count arrivals and bytes of copies.
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
/// At the barrier of the same place in block `rank` of the cluster.
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
/// To the same place in every block of the cluster that `blocks` has a bit for, each with its own barrier.
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

/// What the matrix instructions are told of a panel of rows in shared memory: rows of 128 bytes, swizzled over 8 rows,
/// 1024 bytes apart (64 units of 16); or of 64 bytes, 512 apart.
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
#define STOPE_OPERANDS_64(d) \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), \
  "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), \
  "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), \
  "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), \
  "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), \
  "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]), \
  "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]), \
  "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
// clang-format on

/// d = a * b (+ d): 64 rows x 16 columns from registers, 128 rows from shared memory.
template <bool kAdd>
__device__ __forceinline__ void multiply(float (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" STOPE_ACCUMULATORS_0_63
      "}, {%64, %65, %66, %67}, %68, add, 1, 1, 0;\n}\n"
      : STOPE_OPERANDS_64(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(kAdd ? 1 : 0));
}

/// The same with both operands in shared memory.
template <bool kAdd>
__device__ __forceinline__ void multiply(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" STOPE_ACCUMULATORS_0_63
      "}, %64, %65, add, 1, 1, 0, 0;\n}\n"
      : STOPE_OPERANDS_64(d)
      : "l"(a), "l"(b), "n"(kAdd ? 1 : 0));
}

__device__ __forceinline__ void multiply_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void multiply_end() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until at most so many of the groups begun are unfinished.
template <int kLeft>
__device__ __forceinline__ void multiply_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}
/// Keeps the compiler from moving accesses of the accumulators across the asynchronous instructions.
__device__ __forceinline__ void pin(float (&d)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// Of 64 queries x 128 rows a thread holds 2 queries, 8 apart, and of each 32 rows: 8 * j + column and the next, for j
// in [0, 16) and column = lane % 4 * 2.

/// Of its query kOdd: the scores of rows 8 * j + column and the next.
template <int kOdd>
__device__ __forceinline__ float2 scores_of(const float (&scores)[64], int j) {
  return {scores[j * 4 + kOdd * 2], scores[j * 4 + kOdd * 2 + 1]};
}

// Scores are positive where they matter (ScanJob), so that their bits are ordered as they are; integers have a maximum
// of three in one instruction.
__device__ __forceinline__ int bits(float score) {
  return __float_as_int(score);
}

/// Maxima of four disjoint groups of the rows a thread holds of a query, kept over tiles.
template <int kOdd>
__device__ __forceinline__ void keep_maxima(const float (&scores)[64], int (&best)[4]) {
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    const float2 pair = scores_of<kOdd>(scores, j);
    best[j % 4] = __vimax3_s32(best[j % 4], bits(pair.x), bits(pair.y));
  }
}

/// Above any score, a kAlways row's too, for images that are of no query: nothing is listed for them.
__device__ __forceinline__ float threshold_of(const ScanJob& job, const CandidateLists& lists, std::int64_t query) {
  return query < job.n_queries ? lists.thresholds[query] : __int_as_float(0x7fffffff);
}

/// A thread's list of one query: up to kMost candidates in shared memory, kStride apart. More go to the query's list at
/// once.
template <int kMost, int kStride>
struct PrivateList {
  Candidate* entries;
  int n = 0;

  __device__ __forceinline__ void append(const CandidateLists& lists, std::int64_t query, const Candidate& candidate) {
    if (n < kMost) {
      entries[n++ * kStride] = candidate;
      return;
    }
    const std::int32_t at = atomicAdd(lists.counts + query, 1);
    if (at < lists.capacity) lists.candidates[query * lists.capacity + at] = candidate;
  }

  __device__ void flush(const CandidateLists& lists, std::int64_t query) const {
    if (n == 0) return;
    const std::int32_t first = atomicAdd(lists.counts + query, n);
    for (int e = 0; e < n && first + e < lists.capacity; ++e) {
      lists.candidates[query * lists.capacity + first + e] = entries[e * kStride];
    }
  }
};

/// Lists the groups of 4 rows whose best score reaches the threshold; `first`: the row of column 0 of the tile, plus
/// the thread's column.
template <int kOdd, class List>
__device__ __forceinline__ void list_groups(const float (&scores)[64], float threshold, std::int32_t first,
                                            const CandidateLists& lists, std::int64_t query, List& list) {
  constexpr int kGroups = 32 / kGroupRows;
  static_assert(kGroups == 8);
  int group[kGroups];
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const float2 low = scores_of<kOdd>(scores, 2 * g), high = scores_of<kOdd>(scores, 2 * g + 1);
    group[g] = max(__vimax3_s32(bits(low.x), bits(low.y), bits(high.x)), bits(high.y));
  }
  const int best = __vimax3_s32(__vimax3_s32(group[0], group[1], group[2]), __vimax3_s32(group[3], group[4], group[5]),
                                max(group[6], group[7]));
  if (best < bits(threshold)) return;
  std::uint32_t hits = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) hits |= (group[g] >= bits(threshold) ? 1U : 0U) << g;
  while (hits != 0) {
    const int g = __ffs(static_cast<int>(hits)) - 1;
    hits &= hits - 1;
    // Registers have no run-time index: halve the candidates instead.
    const int a = (g & 1) != 0 ? group[1] : group[0], b = (g & 1) != 0 ? group[3] : group[2];
    const int c = (g & 1) != 0 ? group[5] : group[4], d = (g & 1) != 0 ? group[7] : group[6];
    const int low = (g & 2) != 0 ? b : a, high = (g & 2) != 0 ? d : c;
    list.append(lists, query, {__int_as_float((g & 4) != 0 ? high : low), first + g * 16});
  }
}

}  // namespace stope::knn::cuda::sm90

#endif
