// The scan on Hopper for images of more than 128 columns: both operands come through shared memory, panel by panel.
//
// Two things limit it: how fast panels come from the L2 cache, and how often the matrix units read them. So a block of
// threads has 128 queries (a warpgroup 64) and tiles of 256 training rows. The two blocks of a cluster have different
// queries and share their training panels: each copies half of a panel into both. A stage is free when the consumers of
// both blocks are done with it.
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/scan/wgmma.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 384, kConsumers = 2, kConsumerThreads = kConsumers * 128, kCluster = 2;
constexpr int kPanelColumns = 64;
constexpr int kPanelBytes = kTileRows * kPanelColumns * static_cast<int>(sizeof(__half));
constexpr int kStages = 4, kStageBytes = 3 * kPanelBytes;  // a panel of queries, and of two tiles of training rows
constexpr int kPrivate = 8, kListStride = kConsumerThreads * 2;
constexpr int kBarriers = kStages * kStageBytes, kLists = kBarriers + 2 * kStages * 8;
constexpr int kBytes = kLists + kListStride * kPrivate * static_cast<int>(sizeof(ListedGroup));
static_assert(kBlockQueries == kCluster * kTileRows);

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct Shared {
  std::uint8_t* stages;
  std::uint64_t* full;
  std::uint64_t* empty;
  ListedGroup* lists;
};

__device__ void produce(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end) {
  const int rank = sm90::cluster_rank(), n_panels = job.width / kPanelColumns;
  const std::int64_t tile_size = static_cast<std::int64_t>(kTileRows) * job.width;
  const __half* queries = job.query_tiles + blockIdx.x * tile_size;
  int turn = 0;
  for (std::int64_t at = begin; at < end; ++at) {
    const __half* train = job.train + (job.tile(at) * kCluster + rank) * tile_size;
    for (int panel = 0; panel < n_panels; ++panel, ++turn) {
      const int stage = turn % kStages;
      if (turn >= kStages) sm90::barrier_wait(shared.empty + stage, (turn / kStages - 1) & 1);
      sm90::barrier_expect(shared.full + stage, kStageBytes);
      std::uint8_t* const to = shared.stages + stage * kStageBytes;
      sm90::bulk_copy(to, queries + panel * (kTileRows * kPanelColumns), kPanelBytes, shared.full + stage);
      sm90::bulk_copy_to((1U << kCluster) - 1, to + (1 + rank) * kPanelBytes,
                         train + panel * (kTileRows * kPanelColumns), kPanelBytes, shared.full + stage);
    }
  }
}

// A thread has two queries, query(0 ... 1), and their scores for two tiles of 128 rows.
class Consumer {
 public:
  __device__ Consumer(const ScanJob& job, const Shared& shared)
      : n_panels_(job.width / kPanelColumns), shared_(shared), thread_(static_cast<int>(threadIdx.x) - 128) {
    const int warp = thread_ / 32 % 4, lane = thread_ % 32;
    first_query_ = static_cast<std::int64_t>(blockIdx.x) * kTileRows + thread_ / 128 * 64 + warp * 16 + lane / 4;
    column_ = lane % 4 * 2;
  }

  __device__ std::int64_t query(int i) const { return first_query_ + i * 8; }
  __device__ int column() const { return column_; }
  __device__ int thread() const { return thread_; }

  /// Computes the scores of tile `turn` of the tiles that are scanned.
  __device__ __forceinline__ void multiply(int turn) {
    multiply_panel<true>(turn * n_panels_);
    for (int panel = 1; panel < n_panels_; ++panel) {
      multiply_panel<false>(turn * n_panels_ + panel);
      sm90::multiply_wait<1>();
      release(turn * n_panels_ + panel - 1);
    }
    sm90::multiply_wait<0>();
    release(turn * n_panels_ + n_panels_ - 1);
    sm90::pin(scores_[0]);
    sm90::pin(scores_[1]);
  }

  __device__ const float (&scores(int tile) const)[64] { return scores_[tile]; }

 private:
  template <bool kFirst>
  __device__ __forceinline__ void multiply_panel(int at) {
    const int stage = at % kStages;
    sm90::barrier_wait(shared_.full + stage, at / kStages & 1);
    const std::uint8_t* panels = shared_.stages + stage * kStageBytes;
    const std::uint64_t queries = sm90::panel_descriptor<128>(panels) + thread_ / 128 * (64 * 128 / 16);
    const std::uint64_t train = sm90::panel_descriptor<128>(panels + kPanelBytes);
    sm90::pin(scores_[0]);
    sm90::pin(scores_[1]);
    sm90::multiply_begin();
#pragma unroll
    for (int k = 0; k < kPanelColumns / 16; ++k) {
      constexpr int kTile = kPanelBytes / 16;
      if (kFirst && k == 0) {
        sm90::multiply<false>(scores_[0], queries, train);
        sm90::multiply<false>(scores_[1], queries, train + kTile);
      } else {
        sm90::multiply<true>(scores_[0], queries + k * 2, train + k * 2);
        sm90::multiply<true>(scores_[1], queries + k * 2, train + k * 2 + kTile);
      }
    }
    sm90::multiply_end();
  }

  __device__ __forceinline__ void release(int at) {
    if (thread_ % 32 < kCluster) sm90::barrier_arrive_at(shared_.empty + at % kStages, thread_ % 32);
  }

  int n_panels_;
  const Shared& shared_;
  int thread_, column_ = 0;
  std::int64_t first_query_ = 0;
  float scores_[2][64];
};

__device__ void consume_sample(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end,
                               float* maxima, std::int64_t n_maxima) {
  Consumer consumer(job, shared);
  int best[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int g = 0; g < 4; ++g) best[i][g] = sm90::bits(kNever);
  }
  for (std::int64_t at = begin; at < end; ++at) {
    consumer.multiply(static_cast<int>(at - begin));
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      sm90::keep_maxima<0>(consumer.scores(tile), best[0]);
      sm90::keep_maxima<1>(consumer.scores(tile), best[1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (consumer.query(i) >= job.n_queries) continue;
    float* out = maxima + consumer.query(i) * n_maxima + static_cast<std::int64_t>(blockIdx.y) * kMaximaPerSegment;
    *reinterpret_cast<int4*>(out + consumer.column() * 2) = {best[i][0], best[i][1], best[i][2], best[i][3]};
  }
}

__device__ void consume_list(const ScanJob& job, const Shared& shared, std::int64_t begin, std::int64_t end,
                             const GroupLists& lists) {
  Consumer consumer(job, shared);
  int threshold[2];
  sm90::PrivateList<kPrivate, kListStride> list[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    threshold[i] = sm90::threshold_of<float>(job, lists, consumer.query(i));
    list[i].entries = shared.lists + i * kConsumerThreads + consumer.thread();
  }
  for (std::int64_t at = begin; at < end; ++at) {
    consumer.multiply(static_cast<int>(at - begin));
#pragma unroll
    for (int tile = 0; tile < 2; ++tile) {
      const auto first = static_cast<std::int32_t>((job.tile(at) * kCluster + tile) * kTileRows) + consumer.column();
      sm90::list_groups<0>(consumer.scores(tile), threshold[0], first, lists, consumer.query(0), list[0]);
      sm90::list_groups<1>(consumer.scores(tile), threshold[1], first, lists, consumer.query(1), list[1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) list[i].flush(lists, consumer.query(i));
}

#endif

template <bool kSample>
__global__ void __launch_bounds__(kThreads, 1)
    wide_scan_kernel(const ScanJob job, float* maxima, const std::int64_t n_maxima, const GroupLists lists) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t memory[];
  auto* const barriers = reinterpret_cast<std::uint64_t*>(memory + kBarriers);
  const Shared shared{memory, barriers, barriers + kStages, reinterpret_cast<ListedGroup*>(memory + kLists)};
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * job.tiles_per_segment;
  const std::int64_t end = begin + job.tiles_per_segment < job.n_tiles ? begin + job.tiles_per_segment : job.n_tiles;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      sm90::barrier_init(shared.full + stage, 1);
      sm90::barrier_init(shared.empty + stage, kCluster * kConsumers * 4);  // one arrival for each warp of consumers
    }
    sm90::barriers_are_ready();
  }
  sm90::cluster_sync();  // the barriers are initialised before the other block copies
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce(job, shared, begin, end);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if constexpr (kSample) {
      consume_sample(job, shared, begin, end, maxima, n_maxima);
    } else {
      consume_list(job, shared, begin, end, lists);
    }
  }
  __syncwarp();          // the warp of the producer is together again: cluster_sync() is for whole warps
  sm90::cluster_sync();  // this block does not end while the other may still arrive here
#endif
}

template <bool kSample>
void launch(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists, cudaStream_t stream) {
  stope::cuda::check(
      cudaFuncSetAttribute(wide_scan_kernel<kSample>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
      "asking for shared memory");
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kCluster, 1, 1};
  cudaLaunchConfig_t how{};
  how.gridDim = dim3(static_cast<unsigned>((job.n_queries + kBlockQueries - 1) / kBlockQueries) * kCluster,
                     static_cast<unsigned>((job.n_tiles + job.tiles_per_segment - 1) / job.tiles_per_segment));
  how.blockDim = dim3(kThreads);
  how.dynamicSmemBytes = kBytes;
  how.stream = stream;
  how.attrs = &cluster;
  how.numAttrs = 1;
  stope::cuda::check(cudaLaunchKernelEx(&how, wide_scan_kernel<kSample>, job, maxima, n_maxima, lists), "scanning");
}

}  // namespace

void launch_sample_wide(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  launch<true>(job, maxima, n_maxima, {}, stream);
}

void launch_list_wide(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  launch<false>(job, nullptr, 0, lists, stream);
}

}  // namespace stope::knn::cuda
