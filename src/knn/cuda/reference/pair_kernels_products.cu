// Pair kernels of the measures that count agreements or add products.
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> product_kernels() {
  return pair_kernels(kProductMeasures);
}

}  // namespace stope::knn::cuda
