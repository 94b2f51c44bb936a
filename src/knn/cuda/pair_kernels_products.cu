// Pair kernels of the measures that count agreements or add products.
#include "knn/cuda/pair_kernels.cuh"
#include "knn/measures/boolean.hpp"
#include "knn/measures/nominal.hpp"
#include "knn/measures/products.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> product_kernels() {
  return pair_kernels<Hamming, Jaccard, Dice, DiceSimilarity, JaccardSimilarity, OverlapSimilarity, InnerProduct,
                      MaxProduct, NominalDistance, NominalDice, NominalJaccard, Kulczynski, RogersTanimoto, RussellRao,
                      SimpleMatching>();
}

}  // namespace stope::knn::cuda
