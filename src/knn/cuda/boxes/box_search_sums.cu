// Searches through boxes by the measures that add differences.
#include "knn/cuda/boxes/box_search.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const BoxKernel> box_sum_kernels() {
  return box_kernels(boxed(kSumMeasures));
}

}  // namespace stope::knn::cuda
