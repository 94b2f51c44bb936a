// Training rows in clusters, so that the scan can leave tiles out (docs/numerics/filter.md, "Tiles that are left out").
//
// Each row belongs to its nearest centre. The images of a table are kept a second time, cluster by cluster. A cluster
// has a radius: no image in it is farther from the centre's. A query whose threshold no score inside that radius can
// reach does not need the cluster's tiles. Queries are put in order, too, so that those of one block of threads need
// the same tiles. Rows that no image bounds, and those far from every centre, are in the last cluster, which every
// query needs.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda/tensor/rerank/rerank.hpp"

namespace stope::knn::cuda {

inline constexpr int kMostClusters = 4096;               ///< the last one included
inline constexpr std::int64_t kMostListedTiles = 65536;  ///< tiles of a table in clusters: their bits fit shared memory
inline constexpr int kCentreRows = 64;                   ///< centres are padded to a multiple of this

/// Centres as they are multiplied: row by row, zero in the columns that hold no numbers.
struct Centres {
  const __half* images;
  const float* norms;  ///< rounded up; infinite for those that fill up the last kCentreRows
  int n;               ///< without the last cluster, which has no centre
  int width;
};

/// Zeroes columns [first, first + n_columns) of the centres' images, and makes the norms of padding infinite.
void launch_trim_centres(__half* images, float* norms, int n, int n_padded, int width, int first, int n_columns,
                         cudaStream_t stream);

/// Finds the nearest centre of every training row: keys[row] becomes its cluster, values[row] the row.
struct AssignJob {
  Centres centres;
  const __half* tiles;  ///< images of the training rows
  const float* norms;
  const float* residuals;
  std::int64_t n;
  float most_residual;  ///< rows beyond this are always listed: they go to the last cluster,
  float most_radius;    ///< and so do rows whose image may be farther than this from every centre's
  std::uint64_t* keys;
  std::int32_t* values;
  float* radii;  ///< per cluster; must be 0 before
};
void launch_assign(const AssignJob& job, cudaStream_t stream);

/// begins[c] becomes the first place of cluster c among sorted keys; begins[n_clusters] is n.
void launch_begins(const std::uint64_t* keys, std::int64_t n, int n_clusters, std::int32_t* begins,
                   cudaStream_t stream);

/// Image and start of place p become those of row order[p], or stay for p >= n. Starts may be null.
struct ReorderJob {
  const std::int32_t* order;
  std::int64_t n, n_padded;
  int width;
  const __half* from;
  __half* to;
  const float* from_starts;
  float* to_starts;
};
void launch_reorder(const ReorderJob& job, cudaStream_t stream);

/// A table's clusters as a search sees them.
struct ClusterView {
  Centres centres;
  const float* radii;
  const std::int32_t* begins;  ///< n_clusters() + 1
  std::int64_t n_rows, n_tiles;

  STOPE_HD constexpr int n_clusters() const { return centres.n + 1; }
};

/// What a batch of queries needs of the table.
struct NeedJob {
  ClusterView clusters;
  BoundsJob bounds;
  const __half* queries;    ///< images, row by row
  const float* thresholds;  ///< for launch_need
  std::int64_t n_queries;
  std::int32_t* homes;   ///< the nearest centre of each query
  std::int32_t* order;   ///< queries by their homes, padded to whole blocks
  std::uint8_t* needed;  ///< [block of queries][cluster]; must be 0 before
};
/// Finds homes and order, and marks the homes of each block's queries as needed.
void launch_homes(const NeedJob& job, cudaStream_t stream);
/// Marks every cluster that may hold a row whose score reaches a query's threshold.
void launch_need(const NeedJob& job, cudaStream_t stream);

/// Lists the tiles of the needed clusters, and every stride-th tile if stride > 0, per block of queries.
struct TileListJob {
  ClusterView clusters;
  const std::uint8_t* needed;
  std::int64_t n_queries;
  std::int64_t stride;
  std::int32_t* tiles;            ///< [block][clusters.n_tiles]
  std::int32_t* sizes;            ///< per block
  unsigned long long* n_skipped;  ///< pairs that are left out are added; may be null
};
void launch_list_tiles(const TileListJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
