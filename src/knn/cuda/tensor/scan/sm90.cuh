// The scan on Hopper for images of up to 128 halves or 256 bytes. It uses asynchronous warpgroup matrix instructions,
// with queries in registers and training tiles in shared memory. It is compiled for sm_90a; other architectures get an
// empty kernel that is never launched (can_scan).
//
// A block of threads has one producer, which copies tiles of 128 training rows into a ring of stages. It has two
// consumer warpgroups of 128 queries each, in two halves. While a warpgroup looks at the scores of one half, the matrix
// units work on the other. Consumers do one maximum a pair. A listed group has 4 rows and is appended to a private list
// in shared memory. So a block seldom adds atomically, and the pass runs at the speed of the bare products.
//
// Score is float if images are in halves, int if they are in bytes. Two bytes take the place of a half, so that tiles,
// descriptors and registers of queries are unchanged. Only the instruction differs.
#pragma once

#include <type_traits>

#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/scan/kernels.hpp"
#include "knn/cuda/tensor/scan/wgmma.cuh"

namespace stope::knn::cuda::sm90 {

inline constexpr int kThreads = 384, kConsumers = 2, kConsumerThreads = kConsumers * 128;
inline constexpr int kPrivate = 8;

template <int kWidth, bool kStarts>
struct Layout {
  static constexpr int kStages = kWidth == 128 ? 4 : kWidth == 96 ? 5 : kWidth == 64 ? 6 : 8;
  static constexpr int kTileBytes = kTileRows * kWidth * static_cast<int>(sizeof(__half));
  static constexpr int kStartBytes = kStarts ? kTileRows * static_cast<int>(sizeof(float)) : 0;
  static constexpr int kStartsAt = kStages * kTileBytes;
  static constexpr int kBarriers = kStartsAt + kStages * kStartBytes;
  static constexpr int kLists = kBarriers + 2 * kStages * 8;
  static constexpr int kListStride = kConsumerThreads * 4;  // four queries a thread
  static constexpr int kBytes = kLists + kListStride * kPrivate * static_cast<int>(sizeof(ListedGroup));
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct Shared {
  std::uint8_t* tiles;
  float* starts;
  std::uint64_t* full;
  std::uint64_t* empty;
  ListedGroup* lists;
};

template <class L>
__device__ Shared shared_of(std::uint8_t* memory) {
  auto* const barriers = reinterpret_cast<std::uint64_t*>(memory + L::kBarriers);
  return {memory, reinterpret_cast<float*>(memory + L::kStartsAt), barriers, barriers + L::kStages,
          reinterpret_cast<ListedGroup*>(memory + L::kLists)};
}

/// Returns the number of tiles in the share that a segment has of its block's list.
__device__ __forceinline__ std::int64_t chosen_tiles(const ChosenTiles& chosen) {
  const int left = chosen.sizes[blockIdx.x] - static_cast<int>(blockIdx.y), step = static_cast<int>(gridDim.y);
  return left > 0 ? (left + step - 1) / step : 0;
}

/// Returns the tile number `at` of the job, or of the segment's share.
template <bool kChosen>
__device__ __forceinline__ std::int64_t tile_at(const ScanJob& job, std::int64_t at) {
  if constexpr (kChosen) {
    return job.chosen.tiles[static_cast<std::int64_t>(blockIdx.x) * job.chosen.stride + blockIdx.y + at * gridDim.y];
  } else {
    return job.tile(at);
  }
}

template <int kWidth, bool kStarts, bool kChosen>
__device__ void produce(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end) {
  using L = Layout<kWidth, kStarts>;
  for (std::int64_t at = begin; at < end; ++at) {
    const int turn = static_cast<int>(at - begin), stage = turn % L::kStages;
    if (turn >= L::kStages) barrier_wait(shared.empty + stage, (turn / L::kStages - 1) & 1);
    const std::int64_t tile = tile_at<kChosen>(job, at);
    barrier_expect(shared.full + stage, L::kTileBytes + L::kStartBytes);
    bulk_copy(shared.tiles + stage * L::kTileBytes, job.train + tile * kTileRows * kWidth, L::kTileBytes,
              shared.full + stage);
    if constexpr (kStarts) {
      bulk_copy(shared.starts + stage * kTileRows, job.starts + tile * kTileRows, L::kStartBytes, shared.full + stage);
    }
  }
}

// A thread has four queries, query(0 ... 3): two of each half.
template <int kWidth, bool kStarts, class Score, bool kChosen>
class Consumer {
 public:
  using L = Layout<kWidth, kStarts>;
  static constexpr int kPanel = panel_columns(kWidth), kRowBytes = kPanel * 2;

  __device__ Consumer(const ScanJob& job, const Shared& shared)
      : shared_(shared), thread_(static_cast<int>(threadIdx.x) - 128) {
    const int warp = thread_ / 32 % 4, lane = thread_ % 32;
    first_query_ = static_cast<std::int64_t>(blockIdx.x) * kBlockQueries + thread_ / 128 * 128 + warp * 16 + lane / 4;
    column_ = lane % 4 * 2;
    if constexpr (kChosen) {
#pragma unroll
      for (int i = 0; i < 4; ++i) chosen_[i] = job.chosen.queries[first_query_ + i / 2 * 64 + i % 2 * 8];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int k = 0; k < kWidth / 16; ++k) {
        const __half* image = job.queries + query(half * 2) * kWidth + k * 16 + column_;
        const __half* other =
            kChosen ? job.queries + query(half * 2 + 1) * kWidth + k * 16 + column_ : image + 8 * kWidth;
        queries_[half][k][0] = *reinterpret_cast<const std::uint32_t*>(image);
        queries_[half][k][1] = *reinterpret_cast<const std::uint32_t*>(other);
        queries_[half][k][2] = *reinterpret_cast<const std::uint32_t*>(image + 8);
        queries_[half][k][3] = *reinterpret_cast<const std::uint32_t*>(other + 8);
      }
    }
  }

  __device__ __forceinline__ std::int64_t query(int i) const {
    if constexpr (kChosen) return chosen_[i];
    return first_query_ + i / 2 * 64 + i % 2 * 8;
  }
  __device__ int column() const { return column_; }
  __device__ int thread() const { return thread_; }

  /// Calls see(half, scores, turn) for the scores of each half and every tile.
  template <class See>
  __device__ __forceinline__ void scan(int n_tiles, const See& see) {
    for (int turn = 0; turn < n_tiles; ++turn) {
      wait_for_tile(turn);
      start(turn);
      begin<0>(turn);
      begin<1>(turn);
      finish<0, 1>(turn, see);
      finish<1, 0>(turn, see);
    }
  }

 private:
  __device__ __forceinline__ void start(int turn) {
    if constexpr (kStarts) {
      const auto* starts = reinterpret_cast<const Score*>(shared_.starts + turn % L::kStages * kTileRows + column_);
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const auto start = *reinterpret_cast<const Pair<Score>*>(starts + j * 8);
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          scores_[half][j * 4] = scores_[half][j * 4 + 2] = start.x;
          scores_[half][j * 4 + 1] = scores_[half][j * 4 + 3] = start.y;
        }
      }
      pin(scores_[0]);
      pin(scores_[1]);
    }
  }

  template <int kHalf>
  __device__ __forceinline__ void begin(int turn) {
    const int stage = turn % L::kStages;
    const std::uint64_t tile = panel_descriptor<kRowBytes>(shared_.tiles + stage * L::kTileBytes);
    multiply_begin();
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) {
      constexpr int kSteps = kPanel / 16;
      const auto at = static_cast<std::uint64_t>(k / kSteps * (kTileRows * kRowBytes / 16) + k % kSteps * 2);
      const std::uint64_t columns = tile + at;
      if (k == 0 && !kStarts) {
        multiply<false>(scores_[kHalf], queries_[kHalf][k], columns);
      } else {
        multiply<true>(scores_[kHalf], queries_[kHalf][k], columns);
      }
    }
    multiply_end();
  }

  __device__ __forceinline__ void wait_for_tile(int turn) const {
    barrier_wait(shared_.full + turn % L::kStages, turn / L::kStages & 1);
  }

  // kLeft: groups of matrix instructions that may still be running on return.
  template <int kHalf, int kLeft, class See>
  __device__ __forceinline__ void finish(int turn, const See& see) {
    multiply_wait<kLeft>();
    pin(scores_[kHalf]);
    if (kHalf == 1 && thread_ % 32 == 0) barrier_arrive(shared_.empty + turn % L::kStages);
    see(std::integral_constant<int, kHalf>(), scores_[kHalf], turn);
  }

  const Shared& shared_;
  int thread_, column_ = 0;
  std::int64_t first_query_ = 0;
  std::int32_t chosen_[kChosen ? 4 : 1] = {};
  std::uint32_t queries_[2][kWidth / 16][4];
  Score scores_[2][64];
};

template <int kWidth, bool kStarts, class Score, bool kChosen>
__device__ void consume_sample(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end,
                               float* maxima, std::int64_t n_maxima) {
  Consumer<kWidth, kStarts, Score, kChosen> consumer(job, shared);
  int best[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int g = 0; g < 4; ++g) best[i][g] = least_bits<Score>();
  }
  consumer.scan(static_cast<int>(end - begin), [&](auto half, const Score(&scores)[64], int) {
    constexpr int i = decltype(half)::value * 2;
    keep_maxima<0>(scores, best[i]);
    keep_maxima<1>(scores, best[i + 1]);
  });
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (consumer.query(i) >= job.n_queries) continue;
    float* out = maxima + consumer.query(i) * n_maxima + static_cast<std::int64_t>(blockIdx.y) * kMaximaPerSegment;
    *reinterpret_cast<float4*>(out + consumer.column() * 2) = {
        score_of_bits<Score>(best[i][0]), score_of_bits<Score>(best[i][1]), score_of_bits<Score>(best[i][2]),
        score_of_bits<Score>(best[i][3])};
  }
}

template <int kWidth, bool kStarts, class Score, bool kChosen>
__device__ void consume_list(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end,
                             const GroupLists& lists) {
  using L = Layout<kWidth, kStarts>;
  using List = PrivateList<kPrivate, L::kListStride>;
  Consumer<kWidth, kStarts, Score, kChosen> consumer(job, shared);
  int threshold[4];
  List list[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    threshold[i] = threshold_of<Score>(job, lists, consumer.query(i));
    list[i].entries = shared.lists + i * kConsumerThreads + consumer.thread();
  }
  consumer.scan(static_cast<int>(end - begin), [&](auto half, const Score(&scores)[64], int turn) {
    const auto first = static_cast<std::int32_t>(tile_at<kChosen>(job, begin + turn) * kTileRows) + consumer.column();
    constexpr int i = decltype(half)::value * 2;
    list_groups<0>(scores, threshold[i], first, lists, consumer.query(i), list[i]);
    list_groups<1>(scores, threshold[i + 1], first, lists, consumer.query(i + 1), list[i + 1]);
  });
#pragma unroll
  for (int i = 0; i < 4; ++i) list[i].flush(lists, consumer.query(i));
}

#endif

template <int kWidth, bool kStarts, bool kSample, class Score, bool kChosen>
__global__ void __launch_bounds__(kThreads, 1)
    scan_kernel(const ScanJob job, float* maxima, const std::int64_t n_maxima, const GroupLists lists) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using L = Layout<kWidth, kStarts>;
  extern __shared__ __align__(1024) std::uint8_t memory[];
  const Shared shared = shared_of<L>(memory);
  std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * job.tiles_per_segment;
  std::int64_t end = begin + job.tiles_per_segment < job.n_tiles ? begin + job.tiles_per_segment : job.n_tiles;
  if constexpr (kChosen) {
    begin = 0;
    end = chosen_tiles(job.chosen);
    if (!kSample && end == 0) return;  // a sample's maxima are written nevertheless
  }
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < L::kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, kConsumers * 4);  // one arrival for each warp of consumers
    }
    barriers_are_ready();
  }
  __syncthreads();  // the barriers are initialised
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) produce<kWidth, kStarts, kChosen>(job, shared, begin, end);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    if constexpr (kSample) {
      consume_sample<kWidth, kStarts, Score, kChosen>(job, shared, begin, end, maxima, n_maxima);
    } else {
      consume_list<kWidth, kStarts, Score, kChosen>(job, shared, begin, end, lists);
    }
  }
#endif
}

template <int kWidth, bool kStarts, bool kSample, class Score, bool kChosen = false>
void launch(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists, cudaStream_t stream) {
  using L = Layout<kWidth, kStarts>;
  stope::cuda::check(cudaFuncSetAttribute(scan_kernel<kWidth, kStarts, kSample, Score, kChosen>,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes),
                     "asking for shared memory");
  const std::int64_t n_segments =
      kChosen ? job.chosen.n_segments : (job.n_tiles + job.tiles_per_segment - 1) / job.tiles_per_segment;
  const dim3 grid(static_cast<unsigned>((job.n_queries + kBlockQueries - 1) / kBlockQueries),
                  static_cast<unsigned>(n_segments));
  scan_kernel<kWidth, kStarts, kSample, Score, kChosen>
      <<<grid, kThreads, L::kBytes, stream>>>(job, maxima, n_maxima, lists);
  stope::cuda::check_launch(kSample ? "scanning a sample" : "scanning");
}

}  // namespace stope::knn::cuda::sm90
