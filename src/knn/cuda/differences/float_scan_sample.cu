#include "knn/cuda/differences/float_scan.cuh"

namespace stope::knn::cuda {

void launch_difference_sample(const DifferenceScan& scan, const GroupBests& bests, cudaStream_t stream) {
  launch_of_form<BestOfGroups>(scan, bests, stream);
}

}  // namespace stope::knn::cuda
