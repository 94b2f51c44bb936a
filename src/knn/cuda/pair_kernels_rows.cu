// Pair kernels of the measures that take two whole rows.
#include "knn/cuda/pair_kernels.cuh"
#include "knn/measures/correlation.hpp"
#include "knn/measures/dtw.hpp"
#include "knn/measures/haversine.hpp"
#include "knn/measures/kernel_euclidean.hpp"
#include "knn/measures/mahalanobis.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> row_kernels() {
  return pair_kernels<Correlation, CorrelationSimilarity, Haversine, KernelEuclidean, Mahalanobis,
                      DynamicTimeWarping>();
}

}  // namespace stope::knn::cuda
