// The scan on Turing: matrix instructions of 8 columns. Training rows pass through registers into two stages by turns.
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/scan/kernels.hpp"
#include "knn/cuda/tensor/scan/tiles.cuh"

namespace stope::knn::cuda {
namespace {

/// A thread's share of a part, on its way from memory to a stage.
template <class Tiles>
class Share {
 public:
  __device__ __forceinline__ void load(const ScanJob& job, const Part& part) {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      pieces_[i] = *reinterpret_cast<const uint4*>(Tiles::piece(job, part, number(i)).from);
    }
    const float* const starts = Tiles::starts(job, part);
    has_starts_ = starts != nullptr && threadIdx.x < Tiles::kStartPairs;
    if (has_starts_) starts_ = *reinterpret_cast<const float2*>(starts + threadIdx.x * 2);
  }

  __device__ __forceinline__ void store(const ScanJob& job, const Part& part, std::uint8_t* stage) const {
#pragma unroll
    for (int i = 0; i < kPieces; ++i) {
      *reinterpret_cast<uint4*>(stage + Tiles::piece(job, part, number(i)).to) = pieces_[i];
    }
    if (!has_starts_) return;
    *reinterpret_cast<float4*>(stage + Tiles::kStarts + threadIdx.x * 16) = {starts_.x, starts_.y, starts_.x,
                                                                             starts_.y};
  }

 private:
  static constexpr int kPieces = Tiles::kPieces / Tiles::kThreads;
  static_assert(kPieces * Tiles::kThreads == Tiles::kPieces);
  __device__ static int number(int i) { return i * Tiles::kThreads + static_cast<int>(threadIdx.x); }

  uint4 pieces_[kPieces];
  float2 starts_{};
  bool has_starts_ = false;
};

template <class Tiles, class Groups>
__global__ void __launch_bounds__(Tiles::kThreads, 1)
    scan_kernel(const __grid_constant__ ScanJob job, const __grid_constant__ typename Groups::Out out) {
  extern __shared__ __align__(128) std::uint8_t memory[];
  const int warp = static_cast<int>(threadIdx.x) / 32, split = warp / kQueryWarps;
  const std::int64_t first_query =
      static_cast<std::int64_t>(blockIdx.x) * kBlockQueries + warp % kQueryWarps * kWarpQueries;
  const bool has_queries = first_query < job.n_queries;
  const Segment segment = segment_of(job);
  const int parts = Tiles::parts_per_tile(job);
  Tiles tiles(job, first_query, split);
  Groups groups(job, out, memory + 2 * Tiles::kStageBytes + warp * Groups::kBytes, first_query, split);
  std::uint8_t* stage = memory;
  std::uint8_t* other = memory + Tiles::kStageBytes;
  Share<Tiles> share;
  Part part{segment.begin, 0};
  share.load(job, part);
  share.store(job, part, stage);
  __syncthreads();  // the first stage is complete
  while (part.tile < segment.end) {
    Part next = part;
    next.next(parts);
    const bool more = next.tile < segment.end;
    if (more) share.load(job, next);
    if (has_queries) tiles.multiply(stage, part, groups);
    if (more) share.store(job, next, other);
    __syncthreads();  // all have read the stage, and the other one is complete
    std::uint8_t* const read = stage;
    stage = other;
    other = read;
    part = next;
  }
  tiles.finish(groups);
  groups.finish();
}

template <class Tiles, template <int> class GroupsOf>
void launch(const ScanJob& job, const typename GroupsOf<Tiles::kSplits>::Out& out, cudaStream_t stream) {
  using Groups = GroupsOf<Tiles::kSplits>;
  constexpr int kBytes = 2 * Tiles::kStageBytes + Tiles::kThreads / 32 * Groups::kBytes;
  static_assert(kBytes <= 64 * 1024);  // the most shared memory of a block of threads on Turing
  stope::cuda::check(
      cudaFuncSetAttribute(scan_kernel<Tiles, Groups>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
      "asking for shared memory");
  scan_kernel<Tiles, Groups><<<scan_grid(job), Tiles::kThreads, kBytes, stream>>>(job, out);
  stope::cuda::check_launch("scanning");
}

template <template <int> class Groups, class Out>
void launch_any_width(const ScanJob& job, const Out& out, cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  const auto launch_tiles = [&]<class Tiles>(std::type_identity<Tiles>) { launch<Tiles, Groups>(job, out, stream); };
  if (!with_narrow_tiles<64, true>(job, launch_tiles)) launch_tiles(std::type_identity<WideTiles<32, true>>{});
}

}  // namespace

void launch_sample_sm75(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  launch_any_width<SampleGroups>(job, GroupMaxima{maxima, n_maxima}, stream);
}

void launch_list_sm75(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  launch_any_width<ListedGroups>(job, lists, stream);
}

}  // namespace stope::knn::cuda
