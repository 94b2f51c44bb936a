#include "knn/cuda/differences/byte_scan.cuh"

namespace stope::knn::cuda {

void launch_byte_list(const ByteScan& scan, const EntryLists& lists, cudaStream_t stream) {
  launch_bytes<Listing>(scan, lists, stream);
}

}  // namespace stope::knn::cuda
