// Pair kernels of the accumulating measures that need elementary functions (base/exact_math.hpp).
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> math_kernels() {
  return pair_kernels(kMathMeasures);
}

}  // namespace stope::knn::cuda
