// Pair kernels of the measures that count agreements or add products.
#include "knn/cuda/reference/pair_kernels.cuh"
#include "knn/measure/formulas/boolean.hpp"
#include "knn/measure/formulas/nominal.hpp"
#include "knn/measure/formulas/products.hpp"

namespace stope::knn::cuda {

std::span<const PairKernel> product_kernels() {
  return pair_kernels<Hamming, Jaccard, Dice, DiceSimilarity, JaccardSimilarity, OverlapSimilarity, InnerProduct,
                      MaxProduct, NominalDistance, NominalDice, NominalJaccard, Kulczynski, RogersTanimoto, RussellRao,
                      SimpleMatching>();
}

}  // namespace stope::knn::cuda
