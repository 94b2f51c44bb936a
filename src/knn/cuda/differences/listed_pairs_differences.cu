// Listed pairs of the filtered measures that add differences.
#include "knn/cuda/differences/listed_pairs.cuh"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

std::span<const ListedKernel> listed_difference_kernels() {
  return listed_kernels(filtered(kSumMeasures));
}

}  // namespace stope::knn::cuda
