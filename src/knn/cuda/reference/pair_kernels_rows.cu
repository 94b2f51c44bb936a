// Pair kernels of the measures that take two whole rows.
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/formulas/correlation.hpp"
#include "knn/measure/formulas/dtw.hpp"
#include "knn/measure/formulas/haversine.hpp"
#include "knn/measure/formulas/kernel_euclidean.hpp"
#include "knn/measure/formulas/mahalanobis.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> row_kernels() {
  return pair_kernels<Correlation, CorrelationSimilarity, Haversine, KernelEuclidean, Mahalanobis,
                      DynamicTimeWarping>();
}

}  // namespace stope::knn::cuda
