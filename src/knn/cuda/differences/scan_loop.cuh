// The loop of a scan. A block of threads keeps a tile of queries and walks over tiles of training rows. Lines of
// training rows are copied to shared memory while the block computes with the lines before. A Work says what is
// computed, and a Sink says what becomes of it.
#pragma once

#include <algorithm>

#include "device/cuda/check.hpp"
#include "knn/cuda/differences/sinks.cuh"

namespace stope::knn::cuda {

// Two lines take 264 words of shared memory. The eight spare words put the threads of a matrix instruction, which read
// four pairs of lines at the same rows, in different banks.
inline constexpr int kLinePair = 2 * kPairTile + 8;

/// How a scan divides its shared memory, in lines: two panels of training rows, and all lines of the queries, which are
/// copied once. If these lines do not fit, the queries are copied panel by panel as well. If a panel has all lines of a
/// tile, several tiles come at once, so that the block of threads waits for itself less often.
struct Pool {
  int panel;  ///< a multiple of kPanelUnit, or all lines
  bool resident;
  int query_lines;
  int tiles = 1;  ///< that come at once

  STOPE_HD int lines() const { return query_lines + 2 * tiles * panel; }
  /// Bytes of the lines, and of the starts of the tiles behind them.
  int bytes() const { return (lines() * (kLinePair / 2) + 2 * tiles * kPairTile) * 4; }
};
inline constexpr int kPanelUnit = 8;  // words of a matrix instruction
inline constexpr int kLeastPanel = 16;
inline constexpr int kMostTilesAtOnce = 4;

/// Plans the most tiles at once, or else the fewest panels, all of one size, that fit `most` bytes of shared memory.
inline Pool plan_pool(int n_lines, int most) {
  const auto up = [](int a, int unit) { return (a + unit - 1) / unit * unit; };
  for (int tiles = kMostTilesAtOnce; tiles > 0; --tiles) {
    const Pool pool{n_lines, true, n_lines, tiles};
    if (pool.bytes() <= most) return pool;
  }
  for (int n_panels = 2; n_panels < n_lines; ++n_panels) {
    const Pool pool{up((n_lines + n_panels - 1) / n_panels, kPanelUnit), true, n_lines};
    if (pool.panel < kLeastPanel) break;
    if (pool.bytes() <= most) return pool;
  }
  Pool pool{kPanelUnit, false, 2 * kPanelUnit};
  for (Pool larger = pool; larger.bytes() <= most; larger.query_lines = 2 * larger.panel) {
    pool = larger;
    larger.panel += kPanelUnit;
  }
  return pool;
}

__device__ constexpr int line_place(int line) {
  return line / 2 * kLinePair + line % 2 * kPairTile;
}

/// Copies sixteen bytes to shared memory, without waiting for them if the GPU can.
__device__ __forceinline__ void copy_async(std::uint32_t* to, const std::uint32_t* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
#else
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
#endif
}
/// Waits until this thread's copies have arrived.
__device__ __forceinline__ void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/// Lines of an image that are in shared memory at once; the first `products` of them are products.
struct Panel {
  int first, n, products;
};

/// Copies the pairs of lines of a panel to shared memory: all 128 rows, or the half numbered `half` (0 or 1). Half of a
/// pair of products is half of the pair's words; half of any other pair is half of each line. An odd last line comes
/// with the spare line behind it.
template <bool kHalf>
__device__ inline void copy_panel(std::uint32_t* to, const std::uint32_t* from, const Panel& panel, int half) {
  constexpr int kCopies = (kHalf ? kPairTile : 2 * kPairTile) / 4;  // copies of 16 bytes for a pair
  const int n = (panel.n + 1) / 2 * kCopies;
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kPairThreads) {
    const int pair = i / kCopies;
    int word = i % kCopies * 4;
    if constexpr (kHalf) {
      word = 2 * pair < panel.products
                 ? word + half * kPairTile
                 : word % (kPairTile / 2) + half * (kPairTile / 2) + word / (kPairTile / 2) * kPairTile;
    }
    copy_async(to + pair * kLinePair + word, from + pair * 2 * kPairTile + word);
  }
}

/// Words of the images of both sides, and the starts of the training rows' sums.
struct PairImages {
  const std::uint32_t* queries;
  const std::uint32_t* train;
  const std::uint32_t* starts;
  int n_lines;
};

/// Copies the panels of a block's tiles, one after another.
template <class Work>
class PanelCopies {
 public:
  static constexpr int kParts = PairPlace<Work::kQuads>::kParts;

  __device__ PanelCopies(const Work& work, std::uint32_t* memory)
      : work_(work), images_(work.images()), memory_(memory), starts_(memory + line_place(work.pool.lines())) {
    const ScanTiles& tiles = work.scan.tiles;
    first_tile_ = static_cast<std::int64_t>(blockIdx.y) * tiles.tiles_per_segment;
    const std::int64_t left = tiles.n_tiles - first_tile_;
    n_tiles_ = static_cast<int>(left < tiles.tiles_per_segment ? left : tiles.tiles_per_segment);
    n_panels_ = (images_.n_lines + work.pool.panel - 1) / work.pool.panel;
    queries_ = images_.queries + static_cast<std::int64_t>(blockIdx.x) * kPairTile * images_.n_lines;
    if (work.pool.resident) copy_panel<false>(memory_, queries_, {0, images_.n_lines, 0}, 0);
  }

  __device__ int n_panels() const { return n_panels_; }
  __device__ int n_tiles() const { return n_tiles_; }
  __device__ Panel panel(int number) const {
    const int first = number * work_.pool.panel;
    const int products = work_.n_products() - first;
    return {first, min(work_.pool.panel, images_.n_lines - first), products};
  }
  __device__ std::int64_t first_row(int tile) const {
    const ScanTiles& tiles = work_.scan.tiles;
    return (tiles.first_tile + (first_tile_ + tile) * tiles.stride) * kPairTile;
  }

  /// Starts to copy the tiles from `first` on that come at once, all their rows and starts.
  __device__ void copy_tiles(int first, int buffer) const {
    for (int tile = first; tile < min(first + work_.pool.tiles, n_tiles_); ++tile) {
      const std::int64_t row = first_row(tile);
      const std::uint32_t* const rows = images_.train + row * images_.n_lines;
      copy_panel<false>(memory_ + rows_at(buffer, tile - first), rows, panel(0), 0);
      copy_starts(tile, row);
    }
  }
  /// Starts to copy one of several panels to buffer 0 or 1: the rows of a part. The tile's starts come with its first
  /// panel.
  __device__ void copy(int tile, int part, int number, int buffer) const {
    const std::int64_t row = first_row(tile);
    const Panel lines = panel(number);
    const std::int64_t from = static_cast<std::int64_t>(lines.first) * kPairTile;
    if (!work_.pool.resident) copy_panel<false>(memory_ + queries_at(number, buffer), queries_ + from, lines, 0);
    const std::uint32_t* const rows = images_.train + row * images_.n_lines + from;
    copy_panel<(kParts > 1)>(memory_ + rows_at(buffer, 0), rows, lines, part);
    if (part == 0 && number == 0) copy_starts(tile, row);
  }
  __device__ std::uint32_t* starts(int tile) const { return starts_ + tile % (2 * work_.pool.tiles) * kPairTile; }
  __device__ int queries_at(int number, int buffer) const {
    return line_place((work_.pool.resident ? number : buffer) * work_.pool.panel);
  }
  /// Where tile `i` of those that come at once begins.
  __device__ int rows_at(int buffer, int i) const {
    return line_place(work_.pool.query_lines + (buffer * work_.pool.tiles + i) * work_.pool.panel);
  }

 private:
  __device__ void copy_starts(int tile, std::int64_t row) const {
    if (threadIdx.x >= kPairTile / 4) return;
    copy_async(starts(tile) + threadIdx.x * 4, images_.starts + row + threadIdx.x * 4);
  }

  const Work& work_;
  const PairImages images_;
  std::uint32_t *memory_, *starts_;
  const std::uint32_t* queries_;
  int n_panels_, n_tiles_;
  std::int64_t first_tile_;
};

/// A Work has these members: the scan, the pool, `Pairs` (the sums of a thread), `kQuads`, `images()`, `n_products()`
/// (lines) and `add(panel, queries, rows, place, part, pairs)`.
template <class Work, template <int, bool> class Sink>
__global__ void __launch_bounds__(kPairThreads, 2)
    pair_kernel(const Work work, const typename Sink<1, false>::Job job) {
  using Place = PairPlace<Work::kQuads>;
  using Pairs = typename Work::Pairs;
  extern __shared__ __align__(16) std::uint32_t memory[];
  const Place place;
  const auto& scan = work.scan;
  Sink<Work::kQuads, Work::kDivides> sink;
  sink.template begin<Pairs>(job, scan.tiles, scan.exclusions, static_cast<std::int64_t>(blockIdx.x) * kPairTile);
  const PanelCopies<Work> copies(work, memory);
  const bool one = copies.n_panels() == 1;  // all parts of a tile are there at once
  one ? copies.copy_tiles(0, 0) : copies.copy(0, 0, 0, 0);
  int buffer = 1, at_once = 0;  // of the tiles that came at once, this one is next
  Pairs pairs;
  for (int tile = 0; tile < copies.n_tiles(); ++tile) {
#pragma unroll 1
    for (int part = 0; part < Place::kParts; ++part) {
#pragma unroll 1
      for (int panel = 0; panel < copies.n_panels(); ++panel) {
        if (!one || (part == 0 && at_once == 0)) {
          wait_for_copies();
          sink.template sync<Pairs>();  // every thread sees the copies, and none reads the other buffer any more
          buffer ^= 1;
          const bool more_panels = panel + 1 < copies.n_panels(), more_parts = part + 1 < Place::kParts;
          if (one) {
            copies.copy_tiles(tile + work.pool.tiles, buffer ^ 1);
          } else if (more_panels || more_parts) {
            copies.copy(tile, more_panels ? part : part + 1, more_panels ? panel + 1 : 0, buffer ^ 1);
          } else if (tile + 1 < copies.n_tiles()) {
            copies.copy(tile + 1, 0, 0, buffer ^ 1);
          }
        }
        if (panel == 0) pairs.start(copies.starts(tile), place, part);
        work.add(copies.panel(panel), memory + copies.queries_at(panel, buffer),
                 memory + copies.rows_at(buffer, at_once), place, part, pairs);
      }
      sink.take(place, copies.first_row(tile), part, pairs);
    }
    if (++at_once == work.pool.tiles) at_once = 0;
  }
  sink.template finish<Pairs>(place);
}

template <template <int, bool> class Sink, class Work, class Job>
void launch_pairs_of(Work work, int n_lines, const Job& job, cudaStream_t stream) {
  int gpu = 0, of_processor = 0, of_block = 0, reserved = 0;
  cudaFuncAttributes kernel{};
  using stope::cuda::check;
  check(cudaGetDevice(&gpu), "asking for the GPU");
  check(cudaDeviceGetAttribute(&of_processor, cudaDevAttrMaxSharedMemoryPerMultiprocessor, gpu), "asking for memory");
  check(cudaDeviceGetAttribute(&of_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, gpu), "asking for memory");
  check(cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, gpu), "asking for memory");
  check(cudaFuncGetAttributes(&kernel, pair_kernel<Work, Sink>), "asking what a kernel needs");
  // Two blocks of threads share a multiprocessor.
  const int most = std::min(of_processor / 2 - reserved, of_block) - static_cast<int>(kernel.sharedSizeBytes);
  work.pool = plan_pool(n_lines, most);
  const int bytes = work.pool.bytes();
  // Asks for the most that any search needs: what this one needs could be less than another thread is about to launch
  // with.
  check(cudaFuncSetAttribute(pair_kernel<Work, Sink>, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
        "asking for shared memory");
  check(cudaFuncSetAttribute(pair_kernel<Work, Sink>, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "asking for shared memory");
  const ScanTiles& tiles = work.scan.tiles;
  const auto ceil_div = [](std::int64_t a, std::int64_t b) { return static_cast<unsigned>((a + b - 1) / b); };
  const dim3 grid(ceil_div(tiles.n_queries, kPairTile), ceil_div(tiles.n_tiles, tiles.tiles_per_segment));
  pair_kernel<Work, Sink><<<grid, kPairThreads, static_cast<std::size_t>(bytes), stream>>>(work, job);
  stope::cuda::check_launch("scanning");
}

}  // namespace stope::knn::cuda
