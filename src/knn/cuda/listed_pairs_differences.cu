// Listed pairs of the measures that add differences.
#include "knn/cuda/listed_pairs.cuh"
#include "knn/measures/braycurtis.hpp"
#include "knn/measures/canberra.hpp"
#include "knn/measures/chebyshev.hpp"
#include "knn/measures/divergences.hpp"
#include "knn/measures/euclidean.hpp"
#include "knn/measures/gower.hpp"
#include "knn/measures/heom.hpp"
#include "knn/measures/manhattan.hpp"
#include "knn/measures/mixed_euclidean.hpp"
#include "knn/measures/nan_euclidean.hpp"
#include "knn/measures/sqeuclidean.hpp"

namespace stope::knn::cuda {

std::span<const ListedKernel> listed_difference_kernels() {
  return listed_kernels<MixedEuclidean, Gower, Heom, Euclidean, SquaredEuclidean, NanEuclidean, Manhattan, Chebyshev,
                        Canberra, BrayCurtis, SquaredLoss>();
}

}  // namespace stope::knn::cuda
