// The kernels that evaluate the reference formulas, one a measure: how the host finds and launches them.
//
// A kernel is compiled once for each measure. The lists of knn/measure/measures.hpp are spread over several files
// pair_kernels_*.cu, so that they compile in parallel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "knn/measure/result.hpp"

namespace stope::knn::cuda {

/// Pairs of rows: x is the measure's first argument, y its second. out[i * x_stride + j * y_stride] belongs to row i of
/// x and row j of y. Everything lies on the GPU.
struct PairTile {
  const double* x;
  std::int64_t n_x;
  const double* y;
  std::int64_t n_y;
  std::int64_t width;
  const Attribute* attributes;
  Quantity quantity;
  double* out;
  std::int64_t x_stride, y_stride;
  double* scratch;  ///< work space for scratch_threads threads
  std::int64_t scratch_threads;
  std::int64_t scratch_doubles;  ///< work space of one such thread; 0 if the measure needs none
};

struct PairKernel {
  const char* type;  ///< typeid(M).name()
  std::int64_t n_bytes;
  /// Queues the kernel. `measure` is an M in host memory. If it has a pointer, the kernel gets `storage` for it.
  void (*launch)(const PairTile& tile, const void* measure, const double* storage, cudaStream_t stream);
};

std::span<const PairKernel> sum_kernels();      ///< pair_kernels_sums.cu
std::span<const PairKernel> product_kernels();  ///< pair_kernels_products.cu
std::span<const PairKernel> math_kernels();     ///< pair_kernels_math.cu
std::span<const PairKernel> row_kernels();      ///< pair_kernels_rows.cu

/// Finds the kernel of a measure; null if there is none.
const PairKernel* find_pair_kernel(const char* type, std::int64_t n_bytes);

}  // namespace stope::knn::cuda
