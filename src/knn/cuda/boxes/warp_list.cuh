// The nearest rows that a warp has seen, sorted by (distance, row) over its lanes: entry e * 32 + lane is in place e.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/sort_neighbors.cuh"

namespace stope::knn::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffU;

/// A distance and its row. Without a row it is at an infinite distance, behind all rows.
struct FoundRow {
  double distance = __builtin_inf();
  std::int32_t row = INT32_MAX;

  __device__ __forceinline__ bool before(const FoundRow& other) const {
    return comes_after(other.distance, other.row, distance, row);
  }
};

__device__ __forceinline__ FoundRow of_lane(const FoundRow& found, int lane) {
  return {__shfl_sync(kAllLanes, found.distance, lane), __shfl_sync(kAllLanes, found.row, lane)};
}

/// Keeps the smaller of this lane's and the other lane's, or the larger one.
__device__ __forceinline__ void exchange(FoundRow& mine, int step, bool smaller) {
  const FoundRow other{__shfl_xor_sync(kAllLanes, mine.distance, step), __shfl_xor_sync(kAllLanes, mine.row, step)};
  if (other.before(mine) == smaller) mine = other;
}

template <int kPlaces>
struct WarpList {
  FoundRow entries[kPlaces];

  /// Adds a row that all lanes know.
  __device__ __forceinline__ void insert(const FoundRow& found, int lane) {
    int place = 0;
#pragma unroll
    for (int e = 0; e < kPlaces; ++e) place += __popc(__ballot_sync(kAllLanes, entries[e].before(found)));
#pragma unroll
    for (int e = kPlaces - 1; e >= 0; --e) {
      FoundRow moved{__shfl_up_sync(kAllLanes, entries[e].distance, 1), __shfl_up_sync(kAllLanes, entries[e].row, 1)};
      if (e > 0) {
        const FoundRow last = of_lane(entries[e > 0 ? e - 1 : 0], 31);
        if (lane == 0) moved = last;
      }
      const int at = e * 32 + lane;
      if (at > place) entries[e] = moved;
      if (at == place) entries[e] = found;
    }
  }

  /// For k = 1: every lane gets the nearest of its list's row and one new row of each lane. A list that was filled so
  /// must not be given to insert() or merge().
  __device__ __forceinline__ void keep_nearest(FoundRow found) {
    static_assert(kPlaces == 1);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) exchange(found, step, true);
    if (found.before(entries[0])) entries[0] = found;
  }

  /// Adds one row of each lane; rows at an infinite distance without a number are none.
  __device__ __forceinline__ void merge(FoundRow found, int lane) {
    static_assert(kPlaces == 1);
#pragma unroll
    for (int size = 2; size <= 32; size *= 2) {
#pragma unroll
      for (int step = size / 2; step > 0; step /= 2) {
        exchange(found, step, ((lane & step) == 0) == ((lane & size) == 0));
      }
    }
    // The smaller of each pair from both ends are the nearest 32, first falling and then rising, or the reverse.
    const FoundRow opposite = of_lane(found, 31 - lane);
    if (opposite.before(entries[0])) entries[0] = opposite;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) exchange(entries[0], step, (lane & step) == 0);
  }

  /// Returns an entry to all lanes.
  __device__ __forceinline__ FoundRow at(int number) const {
    FoundRow found = entries[0];
#pragma unroll
    for (int e = 1; e < kPlaces; ++e) {
      if (number / 32 == e) found = entries[e];
    }
    return of_lane(found, number % 32);
  }
};

}  // namespace stope::knn::cuda
