// The scan on Hopper for images in bytes (sm90.cuh), of up to 128 or up to 256 columns.
#include "knn/cuda/tensor/scan/sm90.cuh"

namespace stope::knn::cuda {
namespace {

template <bool kSample>
void launch_bytes(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists,
                  cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  (job.width == 64 ? sm90::launch<64, true, kSample, int>
                   : sm90::launch<kMostByteWidth, true, kSample, int>)(job, maxima, n_maxima, lists, stream);
}

}  // namespace

void launch_sample_bytes(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  launch_bytes<true>(job, maxima, n_maxima, {}, stream);
}

void launch_list_bytes(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  launch_bytes<false>(job, nullptr, 0, lists, stream);
}

}  // namespace stope::knn::cuda
