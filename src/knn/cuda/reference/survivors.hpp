// Finds the distances of a tile that can still enter a neighbour list: those that do not exceed their query's
// threshold. They are gathered in row order, so that the host looks at a few instead of all.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace stope::knn::cuda {

struct SurvivorTile {
  const double* distances;   ///< n_queries x n_rows, row-major
  const double* thresholds;  ///< per query; infinity or NaN keeps everything, even NaN distances
  std::int64_t n_queries;
  std::int64_t n_rows;
  // Output. The survivors of query i begin at offsets[i]; there are counts[i] of them, rows ascending.
  std::int64_t* offsets;
  std::int32_t* counts;
  unsigned long long* total;  ///< number of survivors of all queries
  double* kept_distances;     ///< room for n_queries x n_rows
  std::int32_t* kept_rows;    ///< counted within the tile
};

void launch_survivors(const SurvivorTile& tile, cudaStream_t stream);

}  // namespace stope::knn::cuda
