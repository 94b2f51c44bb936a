// Listed pairs of the other filtered measures: they count what differs, or look at directions.
#include "knn/cuda/differences/listed_pairs.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const ListedKernel> listed_other_kernels() {
  return listed_kernels(filtered(kProductMeasures + kMathMeasures + kRowMeasures));
}

const ListedKernel* find_listed_kernel(const char* type, std::int64_t n_bytes) {
  for (const auto& family : {listed_difference_kernels(), listed_other_kernels()}) {
    for (const ListedKernel& kernel : family) {
      if (std::strcmp(kernel.type, type) == 0 && kernel.n_bytes == n_bytes) return &kernel;
    }
  }
  return nullptr;
}

}  // namespace stope::knn::cuda
