// The scan on Ampere and later: a warp's matrix instructions, and asynchronous copies of training tiles.
//
// The warps of a block of threads copy training rows into a ring of stages. They drift apart by as much as half of the
// ring, so that one multiplies while another looks for maxima.
#include <algorithm>

#include "device/cuda/arrivals.cuh"
#include "device/cuda/async_copy.cuh"
#include "device/cuda/check.hpp"
#include "knn/cuda/matrix_instructions.cuh"
#include "knn/cuda/tensor/scan/kernels.hpp"
#include "knn/cuda/tensor/scan/tiles.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kMostStages = 8;

#if __CUDA_ARCH__ >= 800

using stope::cuda::barrier_arrive;
using stope::cuda::barrier_init;
using stope::cuda::barrier_wait;

/// Arrives when the copies that the thread has begun are complete.
__device__ __forceinline__ void barrier_arrive_after_copies(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}
/// The place of a warp in the ring.
struct Turn {
  int stage = 0, phase = 0;
  __device__ void next(int n_stages) {
    if (++stage < n_stages) return;
    stage = 0;
    phase ^= 1;
  }
};

struct Ring {
  std::uint8_t* stages;
  std::uint64_t* full;
  std::uint64_t* empty;
  int* n_begun;  ///< parts whose copies have begun
  int n_stages;
};

/// Copies a segment's parts, one after another. The warp that first asks for a part copies it: the warps of a scheduler
/// do not share its time evenly, and the last would begin too late for the first.
template <class Tiles>
class Copies {
 public:
  __device__ Copies(const ScanJob& job, const Ring& ring, const Segment& segment)
      : job_(job), ring_(ring), part_{segment.begin, 0}, n_((segment.end - segment.begin) * parts(job)) {}

  /// Begins to copy the next part, if there is one, as soon as all threads have read what was in its stage.
  __device__ __forceinline__ void begin() {
    if (next_ >= n_) return;
    int before = 0;
    if (threadIdx.x % 32 == 0) before = atomicMax(ring_.n_begun, next_ + 1);
    if (__shfl_sync(~0U, before, 0) <= next_) copy();
    ++next_;
    turn_.next(ring_.n_stages);
    part_.next(parts(job_));
  }

 private:
  __device__ static int parts(const ScanJob& job) { return Tiles::parts_per_tile(job); }

  __device__ __forceinline__ void copy() const {
    barrier_wait(ring_.empty + turn_.stage, turn_.phase ^ 1);
    std::uint8_t* const stage = ring_.stages + turn_.stage * Tiles::kStageBytes;
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll 8
    for (int i = 0; i < Tiles::kPieces; i += 32) {
      const Piece piece = Tiles::piece(job_, part_, i + lane);
      stope::cuda::copy<16>(stage + piece.to, piece.from);
    }
    const float* const starts = Tiles::starts(job_, part_);
    for (int i = lane; starts != nullptr && i < Tiles::kStartPairs; i += 32) {
      stope::cuda::copy<8>(stage + Tiles::kStarts + i * 16, starts + i * 2);
      stope::cuda::copy<8>(stage + Tiles::kStarts + i * 16 + 8, starts + i * 2);
    }
    barrier_arrive_after_copies(ring_.full + turn_.stage);
  }

  const ScanJob& job_;
  const Ring& ring_;
  Part part_;
  int n_, next_ = 0;  // parts of the segment, and how many this warp has asked for
  Turn turn_;
};

template <class Tiles, class Groups>
__device__ __forceinline__ void scan(const ScanJob& job, const typename Groups::Out& out, const Ring& ring,
                                     std::uint8_t* memory) {
  const int warp = static_cast<int>(threadIdx.x) / 32, split = warp / kQueryWarps;
  const std::int64_t first_query =
      static_cast<std::int64_t>(blockIdx.x) * kBlockQueries + warp % kQueryWarps * kWarpQueries;
  const bool has_queries = first_query < job.n_queries;
  const Segment segment = segment_of(job);
  Copies<Tiles> copies(job, ring, segment);
  // Half of the stages are being copied for the fastest warp. The slowest warp may still read the others.
  for (int i = 0; i < ring.n_stages / 2; ++i) copies.begin();
  Tiles tiles(job, first_query, split);
  Groups groups(job, out, memory + warp * Groups::kBytes, first_query, split);
  const int parts = Tiles::parts_per_tile(job);
  Turn turn;
  Part part{segment.begin, 0};
  for (int left = (segment.end - segment.begin) * parts; left > 0; --left) {
    copies.begin();
    barrier_wait(ring.full + turn.stage, turn.phase);
    if (has_queries) tiles.multiply(ring.stages + turn.stage * Tiles::kStageBytes, part, groups);
    // Every lane arrives for itself: compute-sanitizer's racecheck sees no order through __syncwarp() and one lane's
    // arrival for all. This costs nothing (measured on an H200, 100 columns: 1.846 ms and 1.845; 300 columns: 9.02 and
    // 9.21).
    barrier_arrive(ring.empty + turn.stage);
    turn.next(ring.n_stages);
    part.next(parts);
  }
  tiles.finish(groups);
  groups.finish();
}

#endif

template <class Tiles, class Groups>
__global__ void __launch_bounds__(Tiles::kThreads, 1)
    scan_kernel(const __grid_constant__ ScanJob job, const __grid_constant__ typename Groups::Out out, int n_stages) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(128) std::uint8_t memory[];
  constexpr int kWarps = Tiles::kThreads / 32;
  std::uint8_t* const gathered = memory + n_stages * Tiles::kStageBytes;
  auto* const barriers = reinterpret_cast<std::uint64_t*>(gathered + kWarps * Groups::kBytes);
  const Ring ring{memory, barriers, barriers + kMostStages, reinterpret_cast<int*>(barriers + 2 * kMostStages),
                  n_stages};
  if (threadIdx.x == 0) {
    *ring.n_begun = 0;
    for (int stage = 0; stage < n_stages; ++stage) {
      barrier_init(ring.full + stage, 32);
      barrier_init(ring.empty + stage, kWarps * 32);
    }
  }
  __syncthreads();  // the barriers are initialised
  scan<Tiles, Groups>(job, out, ring, gathered);
#endif
}

int shared_memory_of_block() {
  int gpu = 0, bytes = 0;
  stope::cuda::check(cudaGetDevice(&gpu), "asking for the GPU");
  stope::cuda::check(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu),
                     "asking for shared memory");
  return bytes;
}

/// Shared memory besides the stages.
template <class Tiles, class Groups>
inline constexpr int kOtherBytes = Tiles::kThreads / 32 * Groups::kBytes + 2 * kMostStages * 8 + 8;

template <class Tiles, class Groups>
int stages() {
  return std::min(kMostStages, (shared_memory_of_block() - kOtherBytes<Tiles, Groups>) / Tiles::kStageBytes);
}

template <class Tiles, template <int> class GroupsOf>
void launch(const ScanJob& job, const typename GroupsOf<Tiles::kSplits>::Out& out, cudaStream_t stream) {
  using Groups = GroupsOf<Tiles::kSplits>;
  const int n_stages = stages<Tiles, Groups>();
  const int bytes = n_stages * Tiles::kStageBytes + kOtherBytes<Tiles, Groups>;
  stope::cuda::check(
      cudaFuncSetAttribute(scan_kernel<Tiles, Groups>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
      "asking for shared memory");
  scan_kernel<Tiles, Groups><<<scan_grid(job), Tiles::kThreads, bytes, stream>>>(job, out, n_stages);
  stope::cuda::check_launch("scanning");
}

template <template <int> class Groups, class Out>
void launch_any_width(const ScanJob& job, const Out& out, cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  const auto launch_tiles = [&]<class Tiles>(std::type_identity<Tiles>) { launch<Tiles, Groups>(job, out, stream); };
  if (with_narrow_tiles<128, false>(job, launch_tiles)) return;
  // Wide slices take fewer turns of the ring. Three stages of them use up the shared memory of sm_80.
  using Wide = WideTiles<64, false>;
  if (stages<Wide, Groups<Wide::kSplits>>() >= 3) return launch_tiles(std::type_identity<Wide>{});
  launch_tiles(std::type_identity<WideTiles<32, false>>{});
}

}  // namespace

void launch_sample_sm80(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  launch_any_width<SampleGroups>(job, GroupMaxima{maxima, n_maxima}, stream);
}

void launch_list_sm80(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  launch_any_width<ListedGroups>(job, lists, stream);
}

}  // namespace stope::knn::cuda
