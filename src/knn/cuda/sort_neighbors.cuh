// The order of neighbours, (distance, row), and sorting by it. Every re-rank on a GPU uses this order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace stope::knn::cuda {

__device__ __forceinline__ bool comes_after(double distance, std::int32_t row, double other_distance,
                                            std::int32_t other_row) {
  return distance > other_distance || (distance == other_distance && row > other_row);
}

/// Sorts by (distance, row) with a bitonic network in shared memory; n is a power of two.
template <class Team>
__device__ void sort_neighbors(const Team& team, double* distances, std::int32_t* rows, int n) {
#pragma unroll 1
  for (int size = 2; size <= n; size *= 2) {
#pragma unroll 1
    for (int step = size / 2; step > 0; step /= 2) {
      team.sync();  // every thread has done the last step
#pragma unroll 1
      for (int i = team.thread(); i < n; i += Team::kThreads) {
        const int other = i ^ step;
        if (other < i) continue;
        const bool ascending = (i & size) == 0;
        if (comes_after(distances[i], rows[i], distances[other], rows[other]) != ascending) continue;
        const double distance = distances[i];
        const std::int32_t row = rows[i];
        distances[i] = distances[other];
        rows[i] = rows[other];
        distances[other] = distance;
        rows[other] = row;
      }
    }
  }
  team.sync();  // the array is sorted
}

}  // namespace stope::knn::cuda
