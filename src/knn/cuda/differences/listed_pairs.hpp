// Distances of listed pairs by the reference formula: the pairs that a filter could not rule out.
//
// A kernel is compiled once for each measure that names a filter form (knn/measure/form.hpp). The lists of
// knn/measure/measures.hpp are spread over files listed_pairs_*.cu, so that they compile in parallel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "knn/measure/measure.hpp"

namespace stope::knn::cuda {

/// Query i has the rows rows[i * stride + j], j < counts[i] <= stride. Everything lies on the GPU.
struct ListedPairs {
  const double* queries;
  const double* train;
  std::int64_t width;  ///< doubles a row
  const Attribute* attributes;
  std::int64_t n_queries;
  const std::int32_t* rows;
  const std::int32_t* counts;
  std::int64_t stride;
  double* distances;  ///< in the places of the rows: distances[i * stride + j]
};

struct ListedKernel {
  const char* type;  ///< typeid(M).name()
  std::int64_t n_bytes;
  /// Queues the kernel. `measure` is an M in host memory.
  void (*launch)(const ListedPairs& pairs, const void* measure, cudaStream_t stream);
};

std::span<const ListedKernel> listed_difference_kernels();  ///< listed_pairs_differences.cu
std::span<const ListedKernel> listed_other_kernels();       ///< listed_pairs_others.cu

/// Finds the kernel of a measure; null if there is none.
const ListedKernel* find_listed_kernel(const char* type, std::int64_t n_bytes);

}  // namespace stope::knn::cuda
