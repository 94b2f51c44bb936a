#include "knn/cuda/differences/float_scan.cuh"

namespace stope::knn::cuda {

void launch_difference_list(const DifferenceScan& scan, const EntryLists& lists, cudaStream_t stream) {
  launch_of_form<Listing>(scan, lists, stream);
}

}  // namespace stope::knn::cuda
