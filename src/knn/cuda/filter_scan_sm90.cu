// The scan on Hopper: asynchronous warpgroup matrix instructions, queries in registers, training tiles through shared
// memory. Compiled for sm_90a; other architectures get an empty kernel that is never launched (can_scan).
//
// A block has a producer that copies tiles of 128 training rows into a ring of stages, and two consumer warpgroups of
// 128 queries each. Accumulators start at the rows' starts, so that they hold the scores when the products are added.
// Per pair the consumers then do one maximum. What is listed is a group of 4 rows, appended to a private list in shared
// memory: no atomics, and the pass runs at the speed of the bare products.
#include <algorithm>

#include "device/cuda/check.hpp"
#include "knn/cuda/filter_scan.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 384, kConsumers = 2;
constexpr int kListed = 8;  // candidates a thread and query keep in shared memory; more go to the list at once

template <int kWidth>
struct Layout {
  static constexpr int kStages = kWidth == 64 ? 6 : 4;
  static constexpr int kTileBytes = kTileRows * kWidth * static_cast<int>(sizeof(__half));
  static constexpr int kStartBytes = kTileRows * static_cast<int>(sizeof(float));
  static constexpr int kStarts = kStages * kTileBytes;
  static constexpr int kBarriers = kStarts + kStages * kStartBytes;
  static constexpr int kLists = kBarriers + 2 * kStages * 8;
  static constexpr int kListThreads = kConsumers * 128 * 4;  // four queries a thread
  static constexpr int kBytes = kLists + kListThreads * kListed * static_cast<int>(sizeof(Candidate));
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

// Barriers in shared memory that count arrivals and bytes of copies.
__device__ __forceinline__ void barrier_init(std::uint64_t* barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count));
}
__device__ __forceinline__ void barrier_expect(std::uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
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

// d += a * b: 64 queries x 16 columns from registers, 128 training rows from shared memory.
__device__ __forceinline__ void multiply_add(float (&d)[64], const std::uint32_t (&a)[4], std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20,"
      "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39,"
      "%40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58,"
      "%59, %60, %61, %62, %63"
      "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 0;\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]),
        "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]),
        "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), "+f"(d[56]),
        "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}

// Keeps the compiler from moving accesses of the accumulators across the asynchronous instructions.
__device__ __forceinline__ void pin(float (&d)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

struct Shared {
  std::uint8_t* tiles;
  float* starts;
  std::uint64_t* full;
  std::uint64_t* empty;
  Candidate* lists;
};

template <int kWidth>
__device__ Shared shared_of(std::uint8_t* memory) {
  using L = Layout<kWidth>;
  auto* const barriers = reinterpret_cast<std::uint64_t*>(memory + L::kBarriers);
  return {memory, reinterpret_cast<float*>(memory + L::kStarts), barriers, barriers + L::kStages,
          reinterpret_cast<Candidate*>(memory + L::kLists)};
}

template <int kWidth>
__device__ void produce(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end) {
  using L = Layout<kWidth>;
  for (std::int64_t at = begin; at < end; ++at) {
    const int turn = static_cast<int>(at - begin), stage = turn % L::kStages;
    if (turn >= L::kStages) barrier_wait(shared.empty + stage, (turn / L::kStages - 1) & 1);
    const std::int64_t tile = at * job.stride;
    barrier_expect(shared.full + stage, L::kTileBytes + L::kStartBytes);
    bulk_copy(shared.tiles + stage * L::kTileBytes, job.train + tile * kTileRows * kWidth, L::kTileBytes,
              shared.full + stage);
    bulk_copy(shared.starts + stage * kTileRows, job.starts + tile * kTileRows, L::kStartBytes, shared.full + stage);
  }
}

// A thread holds, of 2 x 64 queries x 128 rows, those of 4 queries (`query(0 ... 3)`) and 32 rows: row 8 * j + column_
// and the next, for j in [0, 16).
template <int kWidth>
class Consumer {
 public:
  __device__ Consumer(const ScanJob& job, const Shared& shared)
      : job_(job), shared_(shared), thread_(static_cast<int>(threadIdx.x) - 128) {
    const int warp = thread_ / 32 % 4, lane = thread_ % 32;
    first_query_ = static_cast<std::int64_t>(blockIdx.x) * kBlockQueries + thread_ / 128 * 128 + warp * 16 + lane / 4;
    column_ = lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int k = 0; k < kWidth / 16; ++k) {
        const __half* image = job.queries + (first_query_ + half * 64) * kWidth + k * 16 + column_;
        queries_[half][k][0] = *reinterpret_cast<const std::uint32_t*>(image);
        queries_[half][k][1] = *reinterpret_cast<const std::uint32_t*>(image + 8 * kWidth);
        queries_[half][k][2] = *reinterpret_cast<const std::uint32_t*>(image + 8);
        queries_[half][k][3] = *reinterpret_cast<const std::uint32_t*>(image + 8 * kWidth + 8);
      }
    }
  }

  __device__ std::int64_t query(int i) const { return first_query_ + i / 2 * 64 + i % 2 * 8; }
  __device__ int lane_in_row() const { return column_ / 2; }
  __device__ int thread() const { return thread_; }

  /// Computes the scores of the tile in stage turn % kStages.
  __device__ __forceinline__ void multiply(int turn) {
    using L = Layout<kWidth>;
    const int stage = turn % L::kStages;
    barrier_wait(shared_.full + stage, turn / L::kStages & 1);
    const float* starts = shared_.starts + stage * kTileRows + column_;
#pragma unroll
    for (int j = 0; j < 16; ++j) {
      const float2 start = *reinterpret_cast<const float2*>(starts + j * 8);
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        scores_[half][j * 4] = scores_[half][j * 4 + 2] = start.x;
        scores_[half][j * 4 + 1] = scores_[half][j * 4 + 3] = start.y;
      }
    }
    // 128-byte swizzle; 8 rows of 128 bytes are 1024 bytes apart (64 units of 16).
    const std::uint64_t tile = (shared_address(shared_.tiles + stage * L::kTileBytes) >> 4) | (std::uint64_t{1} << 16) |
                               (std::uint64_t{64} << 32) | (std::uint64_t{1} << 62);
    pin(scores_[0]);
    pin(scores_[1]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) {
      const std::uint64_t columns = tile + static_cast<std::uint64_t>(k / 4 * (kTileRows * 128 / 16) + k % 4 * 2);
      multiply_add(scores_[0], queries_[0][k], columns);
      multiply_add(scores_[1], queries_[1][k], columns);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    pin(scores_[0]);
    pin(scores_[1]);
    if (thread_ % 32 == 0) barrier_arrive(shared_.empty + stage);
  }

  /// Of query i: the scores of rows 8 * j + column_ and the next.
  __device__ __forceinline__ float2 scores(int i, int j) const {
    return {scores_[i / 2][j * 4 + i % 2 * 2], scores_[i / 2][j * 4 + i % 2 * 2 + 1]};
  }
  __device__ int column() const { return column_; }

 private:
  const ScanJob& job_;
  const Shared& shared_;
  int thread_, column_ = 0;
  std::int64_t first_query_ = 0;
  std::uint32_t queries_[2][kWidth / 16][4];
  float scores_[2][64];
};

// Scores are positive where they matter (ScanJob), so that their bits are ordered as they are; integers have a maximum
// of three in one instruction.
__device__ __forceinline__ int bits(float score) {
  return __float_as_int(score);
}

template <int kWidth>
__device__ void consume_sample(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end,
                               float* maxima, std::int64_t n_maxima) {
  Consumer<kWidth> consumer(job, shared);
  int best[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int g = 0; g < 4; ++g) best[i][g] = bits(kNever);
  }
  for (std::int64_t at = begin; at < end; ++at) {
    consumer.multiply(static_cast<int>(at - begin));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const float2 pair = consumer.scores(i, j);
        best[i][j % 4] = __vimax3_s32(best[i][j % 4], bits(pair.x), bits(pair.y));
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (consumer.query(i) >= job.n_queries) continue;
    float* out = maxima + consumer.query(i) * n_maxima + static_cast<std::int64_t>(blockIdx.y) * kMaximaPerSegment;
    *reinterpret_cast<int4*>(out + consumer.lane_in_row() * 4) = {best[i][0], best[i][1], best[i][2], best[i][3]};
  }
}

__device__ __noinline__ void append(const CandidateLists& lists, std::int64_t query, const Candidate& candidate) {
  const std::int32_t at = atomicAdd(lists.counts + query, 1);
  if (at < lists.capacity) lists.candidates[query * lists.capacity + at] = candidate;
}

template <int kWidth>
__device__ void consume_list(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end,
                             const CandidateLists& lists) {
  constexpr int kGroups = 32 / kGroupRows;
  using L = Layout<kWidth>;
  Consumer<kWidth> consumer(job, shared);
  float threshold[4];
  int listed[4] = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t query = consumer.query(i);
    // Above any score, a kAlways row's too: of images that are no query nothing is listed.
    threshold[i] = query < job.n_queries ? lists.thresholds[query] : __int_as_float(0x7f800000);
  }
  for (std::int64_t at = begin; at < end; ++at) {
    consumer.multiply(static_cast<int>(at - begin));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      int best = bits(kNever);
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const float2 pair = consumer.scores(i, j);
        best = __vimax3_s32(best, bits(pair.x), bits(pair.y));
      }
      if (best < bits(threshold[i])) continue;
      float group[kGroups];
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        const float2 low = consumer.scores(i, 2 * g), high = consumer.scores(i, 2 * g + 1);
        group[g] = fmaxf(fmaxf(low.x, low.y), fmaxf(high.x, high.y));
      }
      std::uint32_t hits = 0;
#pragma unroll
      for (int g = 0; g < kGroups; ++g) hits |= (group[g] >= threshold[i] ? 1U : 0U) << g;
      while (hits != 0) {
        const int g = __ffs(static_cast<int>(hits)) - 1;
        hits &= hits - 1;
        // Registers have no run-time index: halve the candidates instead.
        const float a = (g & 1) != 0 ? group[1] : group[0], b = (g & 1) != 0 ? group[3] : group[2];
        const float c = (g & 1) != 0 ? group[5] : group[4], d = (g & 1) != 0 ? group[7] : group[6];
        const float low = (g & 2) != 0 ? b : a, high = (g & 2) != 0 ? d : c;
        const Candidate candidate{(g & 4) != 0 ? high : low,
                                  static_cast<std::int32_t>(at * job.stride * kTileRows) + g * 16 + consumer.column()};
        if (listed[i] < kListed) {
          shared.lists[listed[i]++ * L::kListThreads + i * (kConsumers * 128) + consumer.thread()] = candidate;
        } else {
          append(lists, consumer.query(i), candidate);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (listed[i] == 0) continue;
    const std::int64_t query = consumer.query(i);
    const std::int32_t first = atomicAdd(lists.counts + query, listed[i]);
    for (int e = 0; e < listed[i] && first + e < lists.capacity; ++e) {
      lists.candidates[query * lists.capacity + first + e] =
          shared.lists[e * L::kListThreads + i * (kConsumers * 128) + consumer.thread()];
    }
  }
}

#endif

template <int kWidth, bool kSample>
__global__ void __launch_bounds__(kThreads, 1)
    scan_kernel(const ScanJob job, float* maxima, const std::int64_t n_maxima, const CandidateLists lists) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using L = Layout<kWidth>;
  extern __shared__ __align__(1024) std::uint8_t memory[];
  const Shared shared = shared_of<kWidth>(memory);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * job.tiles_per_segment;
  const std::int64_t end = begin + job.tiles_per_segment < job.n_tiles ? begin + job.tiles_per_segment : job.n_tiles;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < L::kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, kConsumers * 4);  // a warp of consumers each
    }
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) produce<kWidth>(job, shared, begin, end);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    if constexpr (kSample) {
      consume_sample<kWidth>(job, shared, begin, end, maxima, n_maxima);
    } else {
      consume_list<kWidth>(job, shared, begin, end, lists);
    }
  }
#endif
}

template <int kWidth, bool kSample>
void launch(const ScanJob& job, float* maxima, std::int64_t n_maxima, const CandidateLists& lists,
            cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  using L = Layout<kWidth>;
  stope::cuda::check(
      cudaFuncSetAttribute(scan_kernel<kWidth, kSample>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes),
      "asking for shared memory");
  const dim3 grid(static_cast<unsigned>((job.n_queries + kBlockQueries - 1) / kBlockQueries),
                  static_cast<unsigned>((job.n_tiles + job.tiles_per_segment - 1) / job.tiles_per_segment));
  scan_kernel<kWidth, kSample><<<grid, kThreads, L::kBytes, stream>>>(job, maxima, n_maxima, lists);
  stope::cuda::check_launch(kSample ? "scanning a sample" : "scanning");
}

}  // namespace

void launch_sample(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  (job.width == 64 ? launch<64, true> : launch<128, true>)(job, maxima, n_maxima, {}, stream);
}

void launch_list(const ScanJob& job, const CandidateLists& lists, cudaStream_t stream) {
  (job.width == 64 ? launch<64, false> : launch<128, false>)(job, nullptr, 0, lists, stream);
}

}  // namespace stope::knn::cuda
