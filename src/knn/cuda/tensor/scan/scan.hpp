// The scan of the tensor filter: the matrix units compute the scores <q,t> - |t|^2 / 2 of all pairs of images. Only
// maxima of groups of training rows leave the registers. They are floats, even if images are in bytes and scores are
// whole numbers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// A group of training rows whose best score does not prove them too far. Its rows are group_row(first, 0 ... 3).
struct ListedGroup {
  float score;         ///< the best of the group's rows
  std::int32_t first;  ///< the group's first row
};

inline constexpr int kGroupRows = 4;

/// The rows of a group lie in two pairs, 8 apart: one thread holds these of a row of the accumulators. Bits 0 and 3 of
/// the first row are 0.
STOPE_HD constexpr std::int32_t group_row(std::int32_t first, int i) {
  return first + (i & 1) + (i >> 1) * 8;
}

/// Which tiles a block of threads scans, and for which queries, where tiles are left out (clusters/clusters.hpp).
/// Segment s of S has every S-th tile of its block's list, from the s-th on.
struct ChosenTiles {
  const std::int32_t* queries = nullptr;  ///< the query of each place, in whole blocks; null: all tiles are scanned
  const std::int32_t* tiles = nullptr;    ///< [block][stride]
  const std::int32_t* sizes = nullptr;    ///< per block
  std::int64_t stride = 0;
  std::int64_t n_segments = 0;
};

struct ScanJob {
  const __half* queries;      ///< row by row
  const __half* query_tiles;  ///< these images in tiles (images/tile_layout.cuh), if scans_tiles(width)
  const __half* train;        ///< in tiles
  const float* starts;        ///< per training row, where its accumulators start; null: columns of the images have it
  int width;
  bool bytes;              ///< images are in bytes, two in the place of a half, and starts are whole numbers
  std::int64_t n_queries;  ///< number of images that are queries; those up to the end of the last block are not
  std::int64_t n_tiles;    ///< number of tiles to scan, of scan_tile_rows(width) rows each: tile(0), tile(1), ...
  std::int64_t first_tile, stride;
  std::int64_t tiles_per_segment;  ///< tiles that one block of threads scans
  ChosenTiles chosen = {};         ///< replaces these four where can_choose_tiles says that it may

  STOPE_HD constexpr std::int64_t tile(std::int64_t i) const { return first_tile + i * stride; }
};

/// Wide images of queries do not fit the registers, so they are read tile by tile, too.
STOPE_HD constexpr bool scans_tiles(int width) {
  return width > 128;
}
STOPE_HD constexpr int scan_tile_rows(int width) {
  return scans_tiles(width) ? 2 * kTileRows : kTileRows;
}

inline constexpr int kMaximaPerSegment = 16;

/// Writes maxima[query * n_maxima + segment * 16 + i]: the best scores of disjoint groups of the segment's rows. If a
/// group has a row that is always listed, its maximum is at least kAlways.
void launch_sample(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);

/// Appends every group whose best score is at least thresholds[query] to candidates[query * capacity + ...].
/// counts[query] says how many there were, including those beyond the capacity.
struct GroupLists {
  const float* thresholds;
  ListedGroup* candidates;
  std::int32_t* counts;
  std::int32_t capacity;
};
void launch_list(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);

/// Says whether this GPU has matrix instructions for which a scan is written.
constexpr bool can_scan(int major, int minor) {
  return major > 7 || (major == 7 && minor >= 5);
}
/// Says whether the scan that the current GPU would get for such images and queries can leave tiles out.
bool can_choose_tiles(int width, bool bytes, std::int64_t n_queries);
/// Says whether this GPU can scan images in bytes, which have one scan. `width` is in halves.
constexpr bool can_scan_bytes(int major, int minor, std::int64_t width) {
  return major == 9 && minor == 0 && (width == 64 || width == kMostByteWidth);
}

}  // namespace stope::knn::cuda
