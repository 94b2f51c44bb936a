// The search through boxes over boxes: one warp a query. It visits the leaf that the query would be in, then every leaf
// that is still within reach, the nearest boxes first. Distances are those of the reference formula, so the lists are
// exact.
//
// A kernel is compiled once for each measure whose sums boxes bound (has_boxes in knn/measure/form.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "knn/cuda/boxes/boxes.hpp"
#include "knn/cuda/differences/scan.hpp"
#include "knn/filter/sum_bounds.hpp"

namespace stope::knn::cuda {

inline constexpr int kMostBoxColumns = 16;     ///< of an image, and of a row
inline constexpr int kMostBoxNeighbors = 128;  ///< four a lane
inline constexpr int kWorkCounters = 64;       ///< counters are spread, so that warps do not wait for one

/// Everything lies on the GPU.
struct BoxSearch {
  BoxLevels boxes;
  SumBounds bounds;
  double train_residual;  ///< of every row that is not hidden
  const float* mismatch;  ///< per column
  int n_numeric, n_columns;
  const double* near;
  const std::int32_t* near_rows;
  std::int64_t width;
  const Attribute* attributes;
  const double* queries;
  const float* images;  ///< of the queries
  const float* residuals;
  const std::uint64_t* homes;  ///< the leaf that the i-th query in order would be in
  const std::int32_t* order;   ///< the number of that query
  std::int64_t n_queries;
  Exclusions exclusions;
  int k;
  double within;      ///< no row farther away is wanted; infinity: all are
  double* distances;  ///< k a query, sorted by (distance, row); fewer within a finite distance
  std::int32_t* rows;
  std::int32_t* uncertified;      ///< set where there are fewer than k distances, unless `within` is finite
  unsigned long long* opened;     ///< kWorkCounters: groups of boxes that were compared with a query
  unsigned long long* evaluated;  ///< kWorkCounters: distances computed
};

struct BoxKernel {
  const char* type;  ///< typeid(M).name()
  std::int64_t n_bytes;
  /// Queues the kernel. `measure` is an M in host memory.
  void (*launch)(const BoxSearch& search, const void* measure, cudaStream_t stream);
};

std::span<const BoxKernel> box_sum_kernels();    ///< box_search_sums.cu
std::span<const BoxKernel> box_other_kernels();  ///< box_search_others.cu

/// Finds the kernel of a measure; null if there is none.
const BoxKernel* find_box_kernel(const char* type, std::int64_t n_bytes);

}  // namespace stope::knn::cuda
