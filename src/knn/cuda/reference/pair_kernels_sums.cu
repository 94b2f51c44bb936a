// Pair kernels of the measures that add differences, one term an attribute.
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/formulas/braycurtis.hpp"
#include "knn/measure/formulas/canberra.hpp"
#include "knn/measure/formulas/chebyshev.hpp"
#include "knn/measure/formulas/divergences.hpp"
#include "knn/measure/formulas/euclidean.hpp"
#include "knn/measure/formulas/gower.hpp"
#include "knn/measure/formulas/heom.hpp"
#include "knn/measure/formulas/manhattan.hpp"
#include "knn/measure/formulas/mixed_euclidean.hpp"
#include "knn/measure/formulas/nan_euclidean.hpp"
#include "knn/measure/formulas/sqeuclidean.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> sum_kernels() {
  return pair_kernels<MixedEuclidean, Gower, Heom, Euclidean, SquaredEuclidean, NanEuclidean, Manhattan, Chebyshev,
                      Canberra, RapidMinerCanberra, BrayCurtis, SquaredLoss>();
}

}  // namespace stope::knn::cuda
