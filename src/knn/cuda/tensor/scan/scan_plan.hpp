// How a scan is cut: which tiles are the sample, in which parts the others are listed, and how many tiles a block of
// threads gets.
//
// Between two parts of the list thresholds are tightened. Once a share f of the rows was listed, further rows need to
// reach the k-th best of those. Only k (share / f) of them do. With parts that double what is known, a list has k
// entries a part instead of k over the sample's share, and the sample can be small. A part is every second, fourth, ...
// tile, so that the order of the table does not matter, even if it is sorted by class.
#pragma once

#include <cstdint>
#include <vector>

namespace stope::knn::cuda {

/// How the blocks of threads in a row of the grid share the tiles of a scan.
struct Segments {
  std::int64_t tiles;  ///< tiles of one segment
  std::int64_t count;
};

struct ScanPart {
  std::int64_t first_tile, stride, n_tiles;  ///< tiles first_tile, first_tile + stride, ...
  Segments segments;
};

struct ScanSize {
  std::int64_t n_tiles;
  std::int64_t tile_rows, width;
  std::int64_t n_queries, block_rows;  ///< rows of blocks of threads in the scan's grid
  std::int64_t multiprocessors;
  std::int64_t k;
  std::int64_t capacity;                                     ///< groups of rows that a list has room for
  std::int64_t least_maxima_segments, most_maxima_segments;  ///< segments of the sample
};

struct ScanPlan {
  ScanPart sample;
  std::vector<ScanPart> parts;  ///< parts of the list, in order
};

ScanPlan plan_scan(const ScanSize& size);

/// Segments of a list that comes in one part of size.n_tiles tiles.
Segments segments_of(const ScanSize& size);

}  // namespace stope::knn::cuda
