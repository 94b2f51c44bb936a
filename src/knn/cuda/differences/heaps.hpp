// RapidMiner's heaps from sums. The training rows are searched in chunks, in the order of the table. Rows of a chunk
// that may be nearer than the heap's root, as it was before the chunk, are evaluated (listed_pairs.hpp) and offered one
// after the other, in the order of the table: the shape of the heap depends on it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/differences/select.hpp"

namespace stope::knn::cuda {

/// A heap a query: distances[query * k + i] and rows[query * k + i], i < sizes[query] <= k, in the order of its array.
struct Heaps {
  std::int64_t n_queries;
  int k;
  double* distances;
  std::int32_t* rows;
  std::int32_t* sizes;
  std::int32_t* uncertified;  ///< heaps that are not known; nothing is offered to them any more
};

/// Computes cuts[query] from the root of a full heap. A query is uncertified from now on if its heap is not full, its
/// root is not finite, or no bound is known.
void launch_heap_cuts(const Heaps& heaps, const CutRule& rule, SumCut* cuts, cudaStream_t stream);

/// The rows of a chunk, [first, end).
struct ChunkRows {
  std::int32_t first, end;
  bool all;          ///< every row of the chunk is chosen; there are no lists
  EntryLists lists;  ///< of the rows of the chunk
  const std::int32_t* always;
  std::int32_t n_always;
  Exclusions exclusions;
  std::int32_t* unordered;          ///< kMostGroups numbers a query to work with
  unsigned long long* n_listed;     ///< the kernel adds to it
  unsigned long long* n_evaluated;  ///< the kernel adds to it
};
/// Chooses the listed rows of a chunk, in the order of the table. A query is uncertified if its list overflows or its
/// rows do not fit.
void launch_chunk_rows(const ChunkRows& chunk, const Heaps& heaps, const ChosenRows& chosen, cudaStream_t stream);

/// Offers the chosen rows to the heaps. After the last chunk a heap that is not full is uncertified.
void launch_offers(const Heaps& heaps, const ChosenRows& chosen, bool last, cudaStream_t stream);

inline constexpr int kMostOffered = 512;  ///< entries of a heap

}  // namespace stope::knn::cuda
