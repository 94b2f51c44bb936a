// Distances of listed pairs by the reference formula: what a filter left of a query, evaluated.
//
// A kernel is compiled once for each measure that names a filter form (knn/measure/form.hpp). The lists of
// knn/measure/measures.hpp are spread over files listed_pairs_*.cu so that they compile side by side.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "knn/measure/measure.hpp"

namespace stope::knn::cuda {

/// Per query i: the rows rows[i * stride + j], j < counts[i] <= stride. Everything lies on the GPU.
struct ListedPairs {
  const double* queries;
  const double* train;
  std::int64_t width;  ///< doubles a row
  const Attribute* attributes;
  std::int64_t n_queries;
  const std::int32_t* rows;
  const std::int32_t* counts;
  std::int64_t stride;
  double* distances;  ///< where the rows are: distances[i * stride + j]
};

struct ListedKernel {
  const char* type;  ///< typeid(M).name()
  std::int64_t n_bytes;
  /// Queues the kernel. `measure` is an M in host memory.
  void (*launch)(const ListedPairs& pairs, const void* measure, cudaStream_t stream);
};

std::span<const ListedKernel> listed_difference_kernels();  ///< listed_pairs_differences.cu
std::span<const ListedKernel> listed_other_kernels();       ///< listed_pairs_others.cu

/// The kernel of a measure, or null.
const ListedKernel* find_listed_kernel(const char* type, std::int64_t n_bytes);

}  // namespace stope::knn::cuda
