#include "knn/cuda/differences/byte_scan.cuh"

namespace stope::knn::cuda {

void launch_byte_sample(const ByteScan& scan, const GroupBests& bests, cudaStream_t stream) {
  launch_bytes<BestOfGroups>(scan, bests, stream);
}

}  // namespace stope::knn::cuda
