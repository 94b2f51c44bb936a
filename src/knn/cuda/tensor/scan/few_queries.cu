// The scan for few queries. Only the queries are used twice, so all that counts is that memory is read without a pause.
// Each warp has its own ring of stages in shared memory. Into it the warp copies 32 training rows as they lie in
// memory, a panel at a time. The rows of the matrix instructions are training rows, and their 8 columns are queries.
#include <algorithm>

#include "device/cuda/async_copy.cuh"
#include "device/cuda/attribute.hpp"
#include "device/cuda/check.hpp"
#include "knn/cuda/matrix_instructions.cuh"
#include "knn/cuda/tensor/scan/kernels.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kWarpRows = 32, kWarpsPerTile = kTileRows / kWarpRows;
constexpr int kMostWarps = 8;
// A float made of these bytes is below any score, both as a float (kNever) and as an integer.
constexpr int kNeverByte = 0xfe;

/// A stage holds 32 rows of a panel of kColumns columns (32 or 64), and their starts.
template <int kColumns>
struct Stage {
  static constexpr int kRowBytes = kColumns * 2;
  static constexpr int kStarts = kWarpRows * kRowBytes;
  static constexpr int kBytes = kStarts + kWarpRows * 4;
  // All stages but one are being copied. With two blocks of 8 warps these are 128 KiB a multiprocessor, three times
  // what keeps a memory of 4 TB/s busy.
  static constexpr int kStages = kColumns == 32 ? 5 : 3;
};

/// A tile of kTileRows rows, number `tile` of the scan, and a panel of it. A warp takes 32 of the rows.
struct Place {
  std::int64_t tile;
  int panel;

  __device__ void next(int n_panels, int step) {
    if (++panel < n_panels) return;
    panel = 0;
    tile += step;
  }
};

/// The scores of 32 rows. A lane holds 2 queries of each 8 (8 * block + lane % 4 * 2 and the next). For each of them it
/// holds row lane / 4 and the rows 8, 16 and 24 further.
template <int kQueryBlocks>
struct Scores {
  float of[2][kQueryBlocks][4];  // [16 rows each][8 queries each][(row, row + 8) x 2 queries]

  __device__ __forceinline__ void start() {
#pragma unroll
    for (int i = 0; i < 2 * kQueryBlocks * 4; ++i) of[i / (kQueryBlocks * 4)][i / 4 % kQueryBlocks][i % 4] = 0.0F;
  }
  __device__ __forceinline__ void start(const float* starts) {
    const int row = static_cast<int>(threadIdx.x) % 32 / 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int b = 0; b < kQueryBlocks; ++b) {
        of[half][b][0] = of[half][b][1] = starts[half * 16 + row];
        of[half][b][2] = of[half][b][3] = starts[half * 16 + row + 8];
      }
    }
  }

  /// Returns the best of the lane's rows for query e of the two in a block of 8 queries.
  __device__ __forceinline__ float best(int b, int e) const {
    return fmaxf(best_of_half(0, b, e), best_of_half(1, b, e));
  }

  /// Returns the best of a group (`group_row`): of the lane's rows and their neighbours, which the neighbouring lanes
  /// hold. Lanes with even rows get the group among the first 16 rows, lanes with odd rows the one among the other 16.
  __device__ __forceinline__ float best_of_group(int b, int e) const {
    const bool odd = threadIdx.x % 8 >= 4;
    const float first = best_of_half(0, b, e), second = best_of_half(1, b, e);
    return fmaxf(odd ? second : first, __shfl_xor_sync(~0U, odd ? first : second, 4));
  }
  __device__ static int first_of_group() {
    const int row = static_cast<int>(threadIdx.x) % 32 / 4;
    return row % 2 * 16 + row / 2 * 2;
  }

 private:
  __device__ __forceinline__ float best_of_half(int half, int b, int e) const {
    return fmaxf(of[half][b][e], of[half][b][2 + e]);
  }
};

struct GroupMaxima {
  float* maxima;
  std::int64_t n_maxima;
};

__device__ __forceinline__ std::int64_t first_query_of_block(int query_blocks) {
  return static_cast<std::int64_t>(blockIdx.y) * query_blocks * 8;
}

/// Keeps the maxima of a sample: each of a segment's 16 groups has 8 rows of every tile. Blocks of threads share
/// segments.
template <int kQueryBlocks>
class SampleGroups {
 public:
  using Out = GroupMaxima;

  __device__ SampleGroups(const ScanJob& job, const Out& out) : job_(job), out_(out) {
#pragma unroll
    for (int q = 0; q < 2 * kQueryBlocks; ++q) best_[q] = kNever;
  }
  __device__ __forceinline__ void take(const Scores<kQueryBlocks>& scores, std::int64_t) {
#pragma unroll
    for (int q = 0; q < 2 * kQueryBlocks; ++q) best_[q] = fmaxf(best_[q], scores.best(q / 2, q % 2));
  }
  __device__ void finish(int segment) {
    const int lane = static_cast<int>(threadIdx.x) % 32, part = static_cast<int>(threadIdx.x) / 32 % kWarpsPerTile;
#pragma unroll
    for (int q = 0; q < 2 * kQueryBlocks; ++q) {
      const float best = fmaxf(best_[q], __shfl_xor_sync(~0U, best_[q], 4));
      const std::int64_t query = first_query_of_block(kQueryBlocks) + q / 2 * 8 + lane % 4 * 2 + q % 2;
      if (lane / 4 % 2 != 0 || query >= job_.n_queries) continue;
      float* out = out_.maxima + query * out_.n_maxima + segment * kMaximaPerSegment + part * 4 + lane / 8;
      // Scores that matter are positive (ScanJob), so their bits have the same order.
      atomicMax(reinterpret_cast<int*>(out), __float_as_int(best));
    }
  }

 private:
  const ScanJob& job_;
  const Out& out_;
  float best_[2 * kQueryBlocks];
};

/// Lists groups. Few of many are listed, so that each finds its place by itself.
template <int kQueryBlocks>
class ListedGroups {
 public:
  using Out = GroupLists;

  __device__ ListedGroups(const ScanJob& job, const Out& out) : out_(out) {
#pragma unroll
    for (int q = 0; q < 2 * kQueryBlocks; ++q) {
      // Nothing is listed for an image that is no query.
      threshold_[q] = query(q) < job.n_queries ? out.thresholds[query(q)] : __int_as_float(0x7fffffff);
    }
  }
  /// `first_row` is the first of the 32 rows.
  __device__ __forceinline__ void take(const Scores<kQueryBlocks>& scores, std::int64_t first_row) {
#pragma unroll
    for (int q = 0; q < 2 * kQueryBlocks; ++q) {
      const float best = scores.best_of_group(q / 2, q % 2);
      if (!(best >= threshold_[q])) continue;
      const std::int32_t at = atomicAdd(out_.counts + query(q), 1);
      if (at < out_.capacity) {
        const auto row = static_cast<std::int32_t>(first_row) + Scores<kQueryBlocks>::first_of_group();
        out_.candidates[query(q) * out_.capacity + at] = {best, row};
      }
    }
  }
  __device__ void finish(int) {}

 private:
  __device__ static std::int64_t query(int q) {
    return first_query_of_block(kQueryBlocks) + q / 2 * 8 + threadIdx.x % 4 * 2 + q % 2;
  }
  const Out& out_;
  float threshold_[2 * kQueryBlocks];
};

/// The way of a warp through a segment.
template <int kColumns, int kQueryBlocks>
class Warp {
  using S = Stage<kColumns>;
  static constexpr int kSteps = kColumns / 16, kStages = S::kStages;

 public:
  /// The warp takes its 32 rows of every `step`-th tile from `first` on, below `end`.
  __device__ Warp(const ScanJob& job, std::uint8_t* ring, std::int64_t first, std::int64_t end, int step)
      : job_(job),
        ring_(ring),
        end_(end),
        step_(step),
        panels_(job.width / kColumns),
        row_(static_cast<int>(threadIdx.x) / 32 % kWarpsPerTile * kWarpRows),
        copied_{first, 0},
        read_{first, 0} {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      // This is the order of a product's a: 8 rows, the next 8 rows, and both again 8 columns further. The swizzle is
      // that of tile_place.
      const int row = lane % 16, piece = k * 2 + lane / 16;
      places_[k] = row * S::kRowBytes + (piece ^ (kColumns == 64 ? row & 7 : row >> 1 & 3)) * 16;
    }
    if (panels_ == 1) load_queries(0);
#pragma unroll
    for (int i = 0; i < kStages - 1; ++i) copy(i);
  }

  template <class Groups>
  __device__ __forceinline__ void scan(Groups& groups) {
    int stage = 0;
    Scores<kQueryBlocks> scores;
    while (read_.tile < end_) {
      stope::cuda::wait_for_copies<kStages - 2>();
      __syncwarp();  // every lane's copies are there, and every lane has read the stage before
      copy(stage == 0 ? kStages - 1 : stage - 1);
      const std::uint8_t* const from = ring_ + stage * S::kBytes;
      if (read_.panel == 0) {
        if (job_.starts != nullptr) {
          scores.start(reinterpret_cast<const float*>(from + S::kStarts));
        } else {
          scores.start();
        }
      }
      if (panels_ != 1) load_queries(read_.panel);
      add(scores, shared_address(from));
      if (read_.panel + 1 == panels_) groups.take(scores, first_row(read_.tile));
      read_.next(panels_, step_);
      stage = stage + 1 < kStages ? stage + 1 : 0;
    }
  }

 private:
  /// Returns the first of the warp's 32 rows.
  __device__ std::int64_t first_row(std::int64_t tile) const {
    const int per_tile = scan_tile_rows(job_.width) / kTileRows;  // 1 or 2
    const std::int64_t at = per_tile == 1 ? job_.tile(tile) : job_.tile(tile / 2) * 2 + tile % 2;
    return at * kTileRows + row_;
  }

  __device__ __forceinline__ void copy(int stage) {
    if (copied_.tile < end_) {
      const int lane = static_cast<int>(threadIdx.x) % 32;
      const std::int64_t row = first_row(copied_.tile);
      std::uint8_t* const to = ring_ + stage * S::kBytes;
      const auto* from = reinterpret_cast<const std::uint8_t*>(job_.train + (row - row_) * job_.width +
                                                               (copied_.panel * kTileRows + row_) * kColumns);
#pragma unroll
      for (int i = lane * 16; i < S::kStarts; i += 32 * 16) stope::cuda::copy<16>(to + i, from + i);
      if (job_.starts != nullptr && copied_.panel == 0 && lane < kWarpRows / 4) {
        stope::cuda::copy<16>(to + S::kStarts + lane * 16, job_.starts + row + lane * 4);
      }
      copied_.next(panels_, step_);
    }
    stope::cuda::end_copies();  // also if nothing was copied, because groups of copies are counted
  }

  __device__ __forceinline__ void load_queries(int panel) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int b = 0; b < kQueryBlocks; ++b) {
      const __half* query =
          job_.queries + (first_query_of_block(kQueryBlocks) + b * 8 + lane / 4) * job_.width + panel * kColumns;
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        queries_[b][k][0] = __ldg(reinterpret_cast<const unsigned*>(query + k * 16 + lane % 4 * 2));
        queries_[b][k][1] = __ldg(reinterpret_cast<const unsigned*>(query + k * 16 + lane % 4 * 2 + 8));
      }
    }
  }

  __device__ __forceinline__ void add(Scores<kQueryBlocks>& scores, std::uint32_t from) const {
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        std::uint32_t a[4];
        load_matrices(a, from + static_cast<std::uint32_t>(places_[k] + half * 16 * S::kRowBytes));
#pragma unroll
        for (int b = 0; b < kQueryBlocks; ++b) {
          float(&sum)[4] = scores.of[half][b];
          multiply_add<false>(sum, a, queries_[b][k][0], queries_[b][k][1], sum);
        }
      }
    }
  }

  const ScanJob& job_;
  std::uint8_t* ring_;
  std::int64_t end_;
  int step_, panels_, row_;
  Place copied_, read_;
  int places_[kSteps];
  unsigned queries_[kQueryBlocks][kSteps][2];
};

/// Blocks of threads [segment * blocks_per_segment, ...) share a segment.
template <int kColumns, int kQueryBlocks, class Groups>
__global__ void __launch_bounds__(kMostWarps * 32)
    scan_kernel(const __grid_constant__ ScanJob job, const __grid_constant__ typename Groups::Out out,
                const int blocks_per_segment) {
  extern __shared__ __align__(128) std::uint8_t memory[];
  const int segment = static_cast<int>(blockIdx.x) / blocks_per_segment;
  const std::int64_t begin = segment * job.tiles_per_segment;
  const std::int64_t end = min(begin + job.tiles_per_segment, job.n_tiles);
  const int tiles_at_once = static_cast<int>(blockDim.x) / (kWarpsPerTile * 32),
            warp = static_cast<int>(threadIdx.x) / 32;
  const int at = static_cast<int>(blockIdx.x) % blocks_per_segment * tiles_at_once + warp / kWarpsPerTile;
  Groups groups(job, out);
  Warp<kColumns, kQueryBlocks> way(job, memory + warp * (Stage<kColumns>::kStages * Stage<kColumns>::kBytes),
                                   begin + at, end, blocks_per_segment * tiles_at_once);
  way.scan(groups);
  groups.finish(segment);
}

template <int kColumns, int kQueryBlocks, template <int> class GroupsOf>
void launch(const ScanJob& job, const typename GroupsOf<kQueryBlocks>::Out& out, cudaStream_t stream) {
  using Groups = GroupsOf<kQueryBlocks>;
  const auto kernel = scan_kernel<kColumns, kQueryBlocks, Groups>;
  constexpr int kWarpBytes = Stage<kColumns>::kStages * Stage<kColumns>::kBytes;
  const int most_bytes = stope::cuda::attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  const int warps = kMostWarps * kWarpBytes <= most_bytes ? kMostWarps : kWarpsPerTile;
  const int bytes = warps * kWarpBytes;
  stope::cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                     "asking for shared memory");
  // Blocks of threads at once: as many as shared memory allows (the system takes a KiB of each), and at most
  // twice kMostWarps warps.
  const int fitting = stope::cuda::attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / (bytes + 1024);
  const int blocks =
      stope::cuda::attribute(cudaDevAttrMultiProcessorCount) * std::clamp(fitting, 1, 2 * kMostWarps / warps);
  const int tiles_at_once = warps / kWarpsPerTile;
  const std::int64_t segments = (job.n_tiles + job.tiles_per_segment - 1) / job.tiles_per_segment;
  const std::int64_t most = (job.tiles_per_segment + tiles_at_once - 1) / tiles_at_once;  // each block has a tile
  const std::int64_t per_segment = std::clamp<std::int64_t>(blocks / segments, 1, most);
  const dim3 grid(static_cast<unsigned>(segments * per_segment),
                  static_cast<unsigned>((job.n_queries + kQueryBlocks * 8 - 1) / (kQueryBlocks * 8)));
  kernel<<<grid, warps * 32, bytes, stream>>>(job, out, static_cast<int>(per_segment));
  stope::cuda::check_launch("scanning");
}

template <template <int> class Groups, class Out>
void launch_any(const ScanJob& job, const Out& out, cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  ScanJob halves = job;  // counted in tiles of kTileRows rows
  halves.n_tiles *= scan_tile_rows(job.width) / kTileRows;
  halves.tiles_per_segment *= scan_tile_rows(job.width) / kTileRows;
  const bool narrow = panel_columns(job.width) == 32;
  if (job.n_queries <= 8) return (narrow ? launch<32, 1, Groups> : launch<64, 1, Groups>)(halves, out, stream);
  return (narrow ? launch<32, 2, Groups> : launch<64, 2, Groups>)(halves, out, stream);
}

}  // namespace

void launch_sample_few(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  const auto bytes = static_cast<std::size_t>(job.n_queries * n_maxima) * sizeof(float);
  stope::cuda::check(cudaMemsetAsync(maxima, kNeverByte, bytes, stream), "clearing memory");
  launch_any<SampleGroups>(job, GroupMaxima{maxima, n_maxima}, stream);
}

void launch_list_few(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  ScanJob whole = job;
  whole.tiles_per_segment = job.n_tiles;
  launch_any<ListedGroups>(whole, lists, stream);
}

}  // namespace stope::knn::cuda
