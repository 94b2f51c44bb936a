// Searches through boxes by the measures of directions and of points on a sphere.
#include "knn/cuda/boxes/box_search.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const BoxKernel> box_other_kernels() {
  return box_kernels(boxed(kProductMeasures + kMathMeasures + kRowMeasures));
}

const BoxKernel* find_box_kernel(const char* type, std::int64_t n_bytes) {
  for (const auto& family : {box_sum_kernels(), box_other_kernels()}) {
    for (const BoxKernel& kernel : family) {
      if (std::strcmp(kernel.type, type) == 0 && kernel.n_bytes == n_bytes) return &kernel;
    }
  }
  return nullptr;
}

}  // namespace stope::knn::cuda
