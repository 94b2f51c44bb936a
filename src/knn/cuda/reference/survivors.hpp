// Which distances of a tile can still enter a neighbour list: those that do not exceed their query's threshold,
// gathered in row order, so that the host looks at a few instead of all.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace stope::knn::cuda {

struct SurvivorTile {
  const double* distances;   ///< n_queries x n_rows, row-major
  const double* thresholds;  ///< per query; infinity or NaN keeps everything, NaN distances too
  std::int64_t n_queries;
  std::int64_t n_rows;
  // Where the survivors go: those of query i from offsets[i] on, counts[i] of them, rows ascending.
  std::int64_t* offsets;
  std::int32_t* counts;
  unsigned long long* total;  ///< of all queries
  double* kept_distances;     ///< room for n_queries x n_rows
  std::int32_t* kept_rows;    ///< counted within the tile
};

void launch_survivors(const SurvivorTile& tile, cudaStream_t stream);

}  // namespace stope::knn::cuda
