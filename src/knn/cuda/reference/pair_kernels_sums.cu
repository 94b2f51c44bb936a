// Pair kernels of the measures that add differences, one term an attribute.
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> sum_kernels() {
  return pair_kernels(kSumMeasures);
}

}  // namespace stope::knn::cuda
