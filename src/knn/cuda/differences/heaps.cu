// In all these kernels one warp handles one query.
#include "knn/cuda/differences/heaps.hpp"

#include "device/cuda/check.hpp"
#include "knn/cuda/differences/select.cuh"
#include "knn/lists/rapidminer_heap.hpp"

namespace stope::knn::cuda {
namespace {

__global__ void __launch_bounds__(kWarps * 32) heap_cut_kernel(const Heaps heaps, const CutRule rule, SumCut* cuts) {
  const std::int64_t query = query_of_warp();
  if (query >= heaps.n_queries || lane_of_thread() != 0) return;
  const double root = heaps.sizes[query] == heaps.k ? heaps.distances[query * heaps.k] : kNoDistance;
  // A root of NaN or infinity lets every row in, and no scan sees rows whose sums leave the range of a float.
  const bool known = heaps.uncertified[query] == 0 && root < kEverything;
  const SumCut cut = cut_of(rule, query, known ? larger(root, 0.0) : kNoDistance);
  cuts[query] = cut;
  if (!(cut.beta >= 0.0F)) heaps.uncertified[query] = 1;
}

__global__ void __launch_bounds__(kWarps * 32)
    chunk_rows_kernel(const ChunkRows chunk, const Heaps heaps, const ChosenRows chosen) {
  const std::int64_t query = query_of_warp();
  if (query >= heaps.n_queries) return;
  const auto room = static_cast<int>(chosen.stride < kMostGroups ? chosen.stride : kMostGroups);
  std::int32_t* const rows = chosen.rows + query * chosen.stride;
  bool known = heaps.uncertified[query] == 0;
  int n = 0, listed = chunk.end - chunk.first;
  if (known && chunk.all) {
    for (std::int32_t first = chunk.first; first < chunk.end; first += 32) {
      const std::int32_t row = first + lane_of_thread();
      n = append(row < chunk.end && !chunk.exclusions.exclude(query, row), row, rows, n, room);
    }
    known = n <= room;
  } else if (known) {
    listed = chunk.lists.counts[query];
    known = listed <= chunk.lists.capacity;
    std::int32_t* const unordered = chunk.unordered + query * kMostGroups;
    const Entry* const entries = chunk.lists.entries + query * chunk.lists.capacity;
    for (int i = 0; known && i < listed; i += 32) {
      const int at = i + lane_of_thread();
      n = append(at < listed, at < listed ? entries[at].row : 0, unordered, n, room);
    }
    for (int i = 0; known && i < chunk.n_always; i += 32) {
      const int at = i + lane_of_thread();
      const std::int32_t row = at < chunk.n_always ? chunk.always[at] : -1;
      const bool here = row >= chunk.first && row < chunk.end && !chunk.exclusions.exclude(query, row);
      n = append(here, row, unordered, n, room);
    }
    known = known && n <= room;
    __syncwarp();  // all rows are written
    // The place of a row is the number of rows before it.
    for (int i = lane_of_thread(); known && i < n; i += 32) {
      const std::int32_t row = unordered[i];
      int before = 0;
      for (int other = 0; other < n; ++other) before += unordered[other] < row ? 1 : 0;
      rows[before] = row;
    }
  }
  if (lane_of_thread() != 0) return;
  if (!known) heaps.uncertified[query] = 1;
  chosen.counts[query] = known ? n : 0;
  if (!known) return;
  atomicAdd(chunk.n_listed, static_cast<unsigned long long>(listed));
  atomicAdd(chunk.n_evaluated, static_cast<unsigned long long>(n));
}

struct Offered {
  double distance;
  std::int32_t row;
};

struct HeapArrays {
  double* distances;
  std::int32_t* rows;
  __device__ double distance(int i) const { return distances[i]; }
  __device__ void move(int to, int from) {
    distances[to] = distances[from];
    rows[to] = rows[from];
  }
  __device__ void put(int to, const Offered& offered) {
    distances[to] = offered.distance;
    rows[to] = offered.row;
  }
};

/// Offers a row to a heap as RapidMinerHeap does. Returns the heap's size afterwards.
__device__ int offer(HeapArrays& heap, int size, int k, const Offered& offered) {
  if (size == k) {
    if (!java_greater(heap.distance(0), offered.distance)) return size;
    heap_poll(heap, size, Offered{heap.distances[size - 1], heap.rows[size - 1]});
    --size;
  }
  heap_push(heap, size, offered);
  return size + 1;
}

__global__ void __launch_bounds__(kWarps * 32)
    offer_kernel(const Heaps heaps, const ChosenRows chosen, const bool last) {
  __shared__ double distances_of[kWarps][kMostOffered];
  __shared__ std::int32_t rows_of[kWarps][kMostOffered];
  const std::int64_t query = query_of_warp();
  if (query >= heaps.n_queries || heaps.uncertified[query] != 0) return;
  HeapArrays heap{distances_of[threadIdx.x / 32], rows_of[threadIdx.x / 32]};
  double* const out_distances = heaps.distances + query * heaps.k;
  std::int32_t* const out_rows = heaps.rows + query * heaps.k;
  int size = heaps.sizes[query];
  for (int i = lane_of_thread(); i < size; i += 32) {
    heap.distances[i] = out_distances[i];
    heap.rows[i] = out_rows[i];
  }
  __syncwarp();  // the heap is there
  const std::int32_t n = chosen.counts[query];
  for (std::int32_t first = 0; first < n; first += 32) {
    const std::int32_t at = first + lane_of_thread();
    const std::int64_t place = query * chosen.stride + at;
    const double distance = at < n ? chosen.distances[place] : 0.0;
    const std::int32_t row = at < n ? chosen.rows[place] : 0;
    for (int i = 0; i < 32 && first + i < n; ++i) {
      const Offered offered{__shfl_sync(~0U, distance, i), __shfl_sync(~0U, row, i)};
      if (lane_of_thread() == 0) size = offer(heap, size, heaps.k, offered);
    }
  }
  __syncwarp();  // all rows are offered
  size = __shfl_sync(~0U, size, 0);
  for (int i = lane_of_thread(); i < size; i += 32) {
    out_distances[i] = heap.distances[i];
    out_rows[i] = heap.rows[i];
  }
  if (lane_of_thread() != 0) return;
  heaps.sizes[query] = size;
  if (last && size < heaps.k) heaps.uncertified[query] = 1;
}

}  // namespace

void launch_heap_cuts(const Heaps& heaps, const CutRule& rule, SumCut* cuts, cudaStream_t stream) {
  heap_cut_kernel<<<blocks_for(heaps.n_queries), kWarps * 32, 0, stream>>>(heaps, rule, cuts);
  stope::cuda::check_launch("finding cuts");
}

void launch_chunk_rows(const ChunkRows& chunk, const Heaps& heaps, const ChosenRows& chosen, cudaStream_t stream) {
  chunk_rows_kernel<<<blocks_for(heaps.n_queries), kWarps * 32, 0, stream>>>(chunk, heaps, chosen);
  stope::cuda::check_launch("choosing rows of a chunk");
}

void launch_offers(const Heaps& heaps, const ChosenRows& chosen, bool last, cudaStream_t stream) {
  offer_kernel<<<blocks_for(heaps.n_queries), kWarps * 32, 0, stream>>>(heaps, chosen, last);
  stope::cuda::check_launch("offering rows to heaps");
}

}  // namespace stope::knn::cuda
