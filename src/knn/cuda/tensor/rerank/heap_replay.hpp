// RapidMiner's heap on the GPU. Training rows are scanned in chunks, in the order of the table. Rows of a chunk that
// may be nearer than the heap's root, as it was before the chunk, are evaluated and offered one after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/tensor/rerank/rerank.hpp"

namespace stope::knn::cuda {

/// How a distance follows from the distance of two images.
struct ImageDistance {
  double unit;  ///< image distance that corresponds to a distance of 1
  cuda_abi::Finish finish;
};

/// Computes thresholds[query]: a row whose score is below it is farther than the heap's root. The threshold is 0 while
/// the heap is not full.
struct RootJob {
  BoundsJob bounds;
  ImageDistance image;
  const double* heaps;        ///< k distances a query, the root first
  const std::int32_t* sizes;  ///< entries that each heap has; null: k
  std::int64_t n_queries;
  int k;
  float* thresholds;
};
void launch_roots(const RootJob& job, cudaStream_t stream);

inline constexpr int kMostReplayed = 512;  ///< entries of a heap

/// Offers the rows of a chunk's lists to the heaps, which lie in pairs.distances and pairs.rows as arrays of k. A query
/// becomes uncertified with the first chunk whose list overflows or has a row without a distance.
struct ReplayJob {
  RerankJob pairs;
  std::int32_t* sizes;
  bool last;  ///< the last chunk: a heap that is not full afterwards leaves its query uncertified
};
using ReplayKernel = void (*)(const ReplayJob& job, const void* measure, cudaStream_t stream);

/// Finds the kernel of a measure whose images the scan compares, or null.
ReplayKernel find_replay_kernel(const cuda_abi::Measure& measure);

}  // namespace stope::knn::cuda
