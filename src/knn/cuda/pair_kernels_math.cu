// Pair kernels of the accumulating measures that need elementary functions (knn/exact_math.hpp).
#include "knn/cuda/pair_kernels.cuh"
#include "knn/measures/cosine.hpp"
#include "knn/measures/divergences.hpp"
#include "knn/measures/minkowski.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> math_kernels() {
  return pair_kernels<Cosine, CosineAngle, Minkowski, GeneralizedI, KullbackLeibler, ItakuraSaito, LogarithmicLoss,
                      LogisticLoss>();
}

}  // namespace stope::knn::cuda
