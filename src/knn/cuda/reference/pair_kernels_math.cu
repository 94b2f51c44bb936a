// Pair kernels of the accumulating measures that need elementary functions (base/exact_math.hpp).
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/formulas/cosine.hpp"
#include "knn/measure/formulas/divergences.hpp"
#include "knn/measure/formulas/minkowski.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> math_kernels() {
  return pair_kernels<Cosine, CosineAngle, Minkowski, GeneralizedI, KullbackLeibler, ItakuraSaito, LogarithmicLoss,
                      LogisticLoss>();
}

}  // namespace stope::knn::cuda
