// Pair kernels of the measures that take two whole rows.
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> row_kernels() {
  return pair_kernels(kRowMeasures);
}

}  // namespace stope::knn::cuda
