// Training rows in shared memory and their products with queries: what the scans with a warp's matrix instructions copy
// into a stage, and what a warp does with it.
//
// A block of threads has 256 queries, 64 a warp; kSplits warps have the same queries and share the rows of a stage.
// Images of up to 128 columns stay in registers (NarrowTiles). Wider images pass by in slices, together with those of
// the training rows, while the scores of 64 x 64 pairs stay in registers (WideTiles).
#pragma once

#include <type_traits>

#include "knn/cuda/matrix_instructions.cuh"
#include "knn/cuda/tensor/scan/groups.cuh"

namespace stope::knn::cuda {

inline constexpr int kQueryWarps = kBlockQueries / kWarpQueries;

/// What one stage holds: part `at` of tile number `tile` of the scan.
struct Part {
  int tile, at;

  __device__ void next(int parts_per_tile) {
    if (++at < parts_per_tile) return;
    at = 0;
    ++tile;
  }
};

/// The 16 bytes number 0 ... kPieces - 1 of a part: where they come from, and their place in the stage.
struct Piece {
  const std::uint8_t* from;
  int to;
};

/// Returns where 16 bytes of a row lie, in a table of rows of 64 or 128 bytes. No two of 8 consecutive rows meet in a
/// bank (tile_place).
template <int kRowBytes>
__device__ __forceinline__ int swizzled(int row, int piece) {
  return row * kRowBytes + (piece ^ (kRowBytes == 128 ? row & 7 : row >> 1 & 3)) * 16;
}

/// Returns which row of the matrices of load_matrices a lane names, to get columns 16 * k and on: as a product's a, for
/// 16 rows of queries, or as its b, for 16 training rows.
template <int kRowBytes>
__device__ __forceinline__ int a_place(int k, int lane) {
  return swizzled<kRowBytes>(lane % 16, k * 2 + lane / 16);
}
template <int kRowBytes>
__device__ __forceinline__ int b_place(int k, int lane) {
  return swizzled<kRowBytes>(lane / 16 * 8 + lane % 8, k * 2 + lane / 8 % 2);
}

/// Loads the c with which products of 16 rows begin: the rows' starts. Each pair of starts lies in shared memory twice.
__device__ __forceinline__ void load_starts(float (&starts)[2][4], const std::uint8_t* from) {
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const float4 pairs = *reinterpret_cast<const float4*>(from + j * 64);
    starts[j][0] = pairs.x, starts[j][1] = pairs.y, starts[j][2] = pairs.z, starts[j][3] = pairs.w;
  }
}

/// Images of kWidth columns (32, 64, 96 or 128). A part is kRows rows (64 or 128). kHasStarts: accumulators begin with
/// the starts. kHalved: products of 8 columns.
template <int kWidth, int kRows, bool kHasStarts, bool kHalved>
class NarrowTiles {
 public:
  static constexpr int kSplits = 2;
  static constexpr int kThreads = kQueryWarps * kSplits * 32;

 private:
  static constexpr int kRowBytes = panel_columns(kWidth) * 2, kPanels = kWidth * 2 / kRowBytes;
  static constexpr int kPanelBytes = kRows * kRowBytes;
  static constexpr int kSteps = kRowBytes / 32;  // steps of 16 columns in a panel
  // The scores of 16 rows are looked at while those of the next 16 are computed. Measured on an H200: 10 % faster at 64
  // columns. It is slower at 128 columns, where it takes all registers, and at 32, where the products are too short to
  // hide it.
  static constexpr bool kDeferred = kWidth == 64;

 public:
  // A stage holds panels as they lie in memory, then starts.
  static constexpr int kStarts = kPanels * kPanelBytes;
  static constexpr int kStageBytes = kStarts + (kHasStarts ? kRows * 8 : 0);
  static constexpr int kPieces = kStarts / 16;

  __device__ static constexpr int parts_per_tile(const ScanJob&) { return kTileRows / kRows; }

  __device__ static Piece piece(const ScanJob& job, const Part& part, int number) {
    const std::int64_t tile = job.tile(part.tile);
    const int to = number * 16, panel = to / kPanelBytes;
    const auto* from = reinterpret_cast<const std::uint8_t*>(job.train + tile * (kTileRows * kWidth));
    return {from + (panel * (kTileRows / kRows) + part.at) * kPanelBytes + to % kPanelBytes, to};
  }

  /// Returns the starts of the part's rows, or null. kStartPairs pairs of them are copied twice to kStarts.
  static constexpr int kStartPairs = kRows / 2;
  __device__ static const float* starts(const ScanJob& job, const Part& part) {
    return kHasStarts ? job.starts + job.tile(part.tile) * kTileRows + part.at * kRows : nullptr;
  }

  __device__ NarrowTiles(const ScanJob& job, std::int64_t first_query, int split)
      : first_tile_(static_cast<int>(job.first_tile)), stride_(static_cast<int>(job.stride)) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (kDeferred) {
#pragma unroll
      for (int i = 0; i < kWarpQueries / 16 * 8; ++i) deferred_.scores[i / 8][i / 4 % 2][i % 4] = kNever;
      deferred_.first_row = 0;
    }
    row_ = split * (kRows / kSplits);
    starts_ = kStarts + (row_ / 2 + lane % 4) * 16;
#pragma unroll
    for (int k = 0; k < kSteps; ++k) places_[k] = row_ * kRowBytes + b_place<kRowBytes>(k, lane);
#pragma unroll
    for (int m = 0; m < kWarpQueries / 16; ++m) {
#pragma unroll
      for (int k = 0; k < kWidth / 16; ++k) {
        const __half* image = job.queries + (first_query + m * 16 + lane / 4) * kWidth + k * 16 + lane % 4 * 2;
        a_[m][k][0] = *reinterpret_cast<const std::uint32_t*>(image);
        a_[m][k][1] = *reinterpret_cast<const std::uint32_t*>(image + 8 * kWidth);
        a_[m][k][2] = *reinterpret_cast<const std::uint32_t*>(image + 8);
        a_[m][k][3] = *reinterpret_cast<const std::uint32_t*>(image + 8 * kWidth + 8);
      }
    }
  }

  /// Gives the scores of the stage's rows, or of the rows before, to `groups`.
  template <class Groups>
  __device__ __forceinline__ void multiply(const std::uint8_t* stage, const Part& part, Groups& groups) {
    const int first_row = (first_tile_ + part.tile * stride_) * kTileRows + part.at * kRows + row_;
#pragma unroll
    for (int g = 0; g < kRows / kSplits / kWarpRows; ++g) {
      Scores scores;
      add_up(scores, stage, g);
      if constexpr (kDeferred) {
        groups.take(deferred_.scores, deferred_.first_row, g + 1);
#pragma unroll
        for (int m = 0; m < kWarpQueries / 16; ++m) {
#pragma unroll
          for (int c = 0; c < 8; ++c) deferred_.scores[m][c / 4][c % 4] = scores[m][c / 4][c % 4];
        }
        deferred_.first_row = first_row + g * kWarpRows;
      } else {
        groups.take(scores, first_row + g * kWarpRows, g);
      }
    }
  }

  template <class Groups>
  __device__ __forceinline__ void finish(Groups& groups) {
    if constexpr (kDeferred) groups.take(deferred_.scores, deferred_.first_row, 1);
  }

 private:
  /// Computes the scores of 16 rows.
  __device__ __forceinline__ void add_up(Scores& scores, const std::uint8_t* stage, int g) const {
    const std::uint32_t address = shared_address(stage);
    float starts[2][4] = {};
    if constexpr (kHasStarts) load_starts(starts, stage + starts_ + g * kWarpRows * 8);
#pragma unroll
    for (int k = 0; k < kWidth / 16; ++k) {
      std::uint32_t b[4];
      load_matrices(b, address + static_cast<std::uint32_t>(places_[k % kSteps] + k / kSteps * kPanelBytes +
                                                            g * kWarpRows * kRowBytes));
#pragma unroll
      for (int m = 0; m < kWarpQueries / 16; ++m) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
          multiply_add<kHalved>(scores[m][j], a_[m][k], b[j * 2], b[j * 2 + 1], k == 0 ? starts[j] : scores[m][j]);
        }
      }
    }
  }

  struct Deferred {
    Scores scores;
    int first_row;
  };
  struct Nothing {};
  std::conditional_t<kDeferred, Deferred, Nothing> deferred_;
  int first_tile_, stride_, row_, starts_;
  int places_[kSteps];
  std::uint32_t a_[kWarpQueries / 16][kWidth / 16][4];
};

/// Images of any multiple of 64 columns, in tiles of 256 rows (scan_tile_rows). A part is a slice of kSlice columns (32
/// or 64) of half a tile, with the same slice of the queries.
template <int kSlice, bool kHalved>
class WideTiles {
  static constexpr int kRowBytes = kSlice * 2;

 public:
  static constexpr int kSplits = 2;
  static constexpr int kThreads = kQueryWarps * kSplits * 32;
  // A stage holds training rows, queries and starts. The starts come with the first slice of a tile.
  static constexpr int kQueries = kTileRows * kRowBytes;
  static constexpr int kStarts = kQueries + kBlockQueries * kRowBytes;
  static constexpr int kStageBytes = kStarts + kTileRows * 8;
  static constexpr int kPieces = kStarts / 16;

  __device__ static int slices(const ScanJob& job) { return job.width / kSlice; }
  __device__ static int parts_per_tile(const ScanJob& job) { return 2 * slices(job); }

  /// A tile of kTileRows rows, and a slice of it.
  struct Where {
    std::int64_t tile;
    int slice;
  };
  __device__ static Where where(const ScanJob& job, const Part& part) {
    const bool second = part.at >= slices(job);
    return {job.tile(part.tile) * 2 + (second ? 1 : 0), part.at - (second ? slices(job) : 0)};
  }

  __device__ static Piece piece(const ScanJob& job, const Part& part, int number) {
    constexpr int kRowPieces = kSlice / 8;
    const int piece = number % kRowPieces, row = number / kRowPieces;
    const Where at = where(job, part);
    if (row < kTileRows) {
      const __half* panel = job.train + at.tile * kTileRows * job.width + at.slice * kSlice / 64 * (kTileRows * 64);
      return {reinterpret_cast<const std::uint8_t*>(panel) + swizzled<128>(row, at.slice * kRowPieces % 8 + piece),
              swizzled<kRowBytes>(row, piece)};
    }
    const int query = row - kTileRows;
    const __half* images = job.queries + static_cast<std::int64_t>(blockIdx.x) * kBlockQueries * job.width;
    return {reinterpret_cast<const std::uint8_t*>(images + query * job.width + at.slice * kSlice + piece * 8),
            kQueries + swizzled<kRowBytes>(query, piece)};
  }

  static constexpr int kStartPairs = kTileRows / 2;
  __device__ static const float* starts(const ScanJob& job, const Part& part) {
    const Where at = where(job, part);
    return job.starts != nullptr && at.slice == 0 ? job.starts + at.tile * kTileRows : nullptr;
  }

  __device__ WideTiles(const ScanJob& job, std::int64_t, int split) : job_(job), row_(split * (kTileRows / kSplits)) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int first_query = static_cast<int>(threadIdx.x) / 32 % kQueryWarps * kWarpQueries;
#pragma unroll
    for (int k = 0; k < kSlice / 16; ++k) {
      train_[k] = row_ * kRowBytes + b_place<kRowBytes>(k, lane);
      queries_[k] = kQueries + first_query * kRowBytes + a_place<kRowBytes>(k, lane);
    }
  }

  template <class Groups>
  __device__ void finish(Groups&) {}

  template <class Groups>
  __device__ __forceinline__ void multiply(const std::uint8_t* stage, const Part& part, Groups& groups) {
    const Where at = where(job_, part);
    if (at.slice == 0) {
      const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        float starts[2][4] = {};
        if (job_.starts != nullptr) {
          load_starts(starts, stage + kStarts + (row_ / 2 + lane % 4) * 16 + g * kWarpRows * 8);
        }
#pragma unroll
        for (int m = 0; m < kWarpQueries / 16; ++m) {
#pragma unroll
          for (int c = 0; c < 8; ++c) scores_[g][m][c / 4][c % 4] = starts[c / 4][c % 4];
        }
      }
    }
    const std::uint32_t address = shared_address(stage);
#pragma unroll
    for (int k = 0; k < kSlice / 16; ++k) {
      std::uint32_t a[kWarpQueries / 16][4];
#pragma unroll
      for (int m = 0; m < kWarpQueries / 16; ++m) {
        load_matrices(a[m], address + static_cast<std::uint32_t>(queries_[k] + m * 16 * kRowBytes));
      }
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        std::uint32_t b[4];
        load_matrices(b, address + static_cast<std::uint32_t>(train_[k] + g * kWarpRows * kRowBytes));
#pragma unroll
        for (int m = 0; m < kWarpQueries / 16; ++m) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            multiply_add<kHalved>(scores_[g][m][j], a[m], b[j * 2], b[j * 2 + 1], scores_[g][m][j]);
          }
        }
      }
    }
    if (at.slice + 1 < slices(job_)) return;
    const int first_row = static_cast<int>(at.tile) * kTileRows + row_;
#pragma unroll
    for (int g = 0; g < kGroups; ++g) groups.take(scores_[g], first_row + g * kWarpRows, g);
  }

 private:
  static constexpr int kGroups = kTileRows / kSplits / kWarpRows;
  const ScanJob& job_;
  int row_;
  int train_[kSlice / 16], queries_[kSlice / 16];
  Scores scores_[kGroups];
};

/// The tiles of the segment that a block of threads scans. Rows are 32-bit numbers, so tile numbers are, too.
struct Segment {
  int begin, end;
};
__device__ __forceinline__ Segment segment_of(const ScanJob& job) {
  const auto begin = static_cast<int>(blockIdx.y * job.tiles_per_segment);
  return {begin, min(begin + static_cast<int>(job.tiles_per_segment), static_cast<int>(job.n_tiles))};
}

/// Calls launch(std::type_identity<Tiles>{}) with the tiles for a job's images. Returns false if they have more than
/// 128 columns. kRows: rows of a part at 96 or 128 columns.
template <int kRows, bool kHalved, class Launch>
bool with_narrow_tiles(const ScanJob& job, const Launch& launch) {
  const auto with = [&]<int kWidth, int kPartRows>() {
    if (job.starts != nullptr) {
      launch(std::type_identity<NarrowTiles<kWidth, kPartRows, true, kHalved>>{});
    } else {
      launch(std::type_identity<NarrowTiles<kWidth, kPartRows, false, kHalved>>{});
    }
    return true;
  };
  switch (job.width) {
    case 32: return with.template operator()<32, 128>();
    case 64: return with.template operator()<64, 128>();
    case 96: return with.template operator()<96, kRows>();
    case 128: return with.template operator()<128, kRows>();
    default: return false;
  }
}

/// The grid of a scan, in blocks of 256 queries.
inline dim3 scan_grid(const ScanJob& job) {
  return {static_cast<unsigned>((job.n_queries + kBlockQueries - 1) / kBlockQueries),
          static_cast<unsigned>((job.n_tiles + job.tiles_per_segment - 1) / job.tiles_per_segment), 1};
}

}  // namespace stope::knn::cuda
