// The scan of the tensor filter: the scores <q,t> - |t|^2 / 2 of all pairs of images on the matrix units, of which only
// maxima of groups of training rows ever leave the registers: as floats, also where images are of bytes and scores
// whole numbers.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// A group of training rows whose best score does not prove them too far: rows group_row(first, 0 ... 3).
struct ListedGroup {
  float score;         ///< the best of the group's rows
  std::int32_t first;  ///< its first row
};

inline constexpr int kGroupRows = 4;

/// The rows of a group lie in two pairs, 8 apart: what one thread holds of a row of the accumulators. Bits 0 and 3 of
/// the first are 0.
STOPE_HD constexpr std::int32_t group_row(std::int32_t first, int i) {
  return first + (i & 1) + (i >> 1) * 8;
}

struct ScanJob {
  const __half* queries;      ///< row by row
  const __half* query_tiles;  ///< the same in tiles (images/tile_layout.cuh), where scans_tiles(width)
  const __half* train;        ///< in tiles
  const float* starts;  ///< per training row, what its accumulators start at; null: the images' own columns have it
  int width;
  bool bytes;              ///< in the images, two in the place of a half; starts are whole numbers
  std::int64_t n_queries;  ///< images there are; those up to the next block are of no query
  std::int64_t n_tiles;    ///< of scan_tile_rows(width) rows, to scan: tiles tile(0), tile(1), ...
  std::int64_t first_tile, stride;
  std::int64_t tiles_per_segment;  ///< of one block

  STOPE_HD constexpr std::int64_t tile(std::int64_t i) const { return first_tile + i * stride; }
};

/// Queries of wide images do not fit registers: they are read tile by tile, too.
STOPE_HD constexpr bool scans_tiles(int width) {
  return width > 128;
}
STOPE_HD constexpr int scan_tile_rows(int width) {
  return scans_tiles(width) ? 2 * kTileRows : kTileRows;
}

inline constexpr int kMaximaPerSegment = 16;

/// maxima[query * n_maxima + segment * 16 + i]: the best scores of disjoint groups of the segment's rows. Of a group
/// with a row that is always listed it is kAlways at least.
void launch_sample(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);

/// Appends every group whose best score is at least thresholds[query] to candidates[query * capacity + ...];
/// counts[query] says how many there were, also of those beyond the capacity.
struct GroupLists {
  const float* thresholds;
  ListedGroup* candidates;
  std::int32_t* counts;
  std::int32_t capacity;
};
void launch_list(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);

/// Whether this GPU has the matrix instructions that a scan is written for.
constexpr bool can_scan(int major, int minor) {
  return major > 7 || (major == 7 && minor >= 5);
}
/// The same of images in bytes, which have one scan. `width`: in halves.
constexpr bool can_scan_bytes(int major, int minor, std::int64_t width) {
  return major == 9 && minor == 0 && (width == 64 || width == kMostByteWidth);
}

}  // namespace stope::knn::cuda
