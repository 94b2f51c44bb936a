// How a scan is cut: which tiles are the sample, in which parts the others are listed, and what a block gets of them.
//
// Between two parts of the list thresholds are tightened: once a share f of the rows was listed, the next rows need to
// reach the k-th best of those, and only k (share / f) of them do. With parts that double what is known, a list has k
// entries a part instead of k over the sample's share, and the sample can be small. Parts are every second, fourth, ...
// tile, so that a table sorted by class is as good as any.
#pragma once

#include <cstdint>
#include <vector>

namespace stope::knn::cuda {

/// How the tiles of a scan are shared among the blocks of a row of the grid.
struct Segments {
  std::int64_t tiles;  ///< of one
  std::int64_t count;
};

struct ScanPart {
  std::int64_t first_tile, stride, n_tiles;  ///< tiles first_tile, first_tile + stride, ...
  Segments segments;
};

struct ScanSize {
  std::int64_t n_tiles;
  std::int64_t tile_rows, width;
  std::int64_t n_queries, block_rows;  ///< rows of blocks of the scan's grid
  std::int64_t multiprocessors;
  std::int64_t k;
  std::int64_t capacity;                                     ///< groups a list has room for
  std::int64_t least_maxima_segments, most_maxima_segments;  ///< of the sample
};

struct ScanPlan {
  ScanPart sample;
  std::vector<ScanPart> parts;  ///< of the list, in order
};

ScanPlan plan_scan(const ScanSize& size);

/// Of a list that comes in one part, size.n_tiles of them.
Segments segments_of(const ScanSize& size);

}  // namespace stope::knn::cuda
