// The scan on Hopper for images in halves, where tiles are left out (sm90.cuh).
#include "knn/cuda/tensor/scan/sm90.cuh"

namespace stope::knn::cuda {

template <int kWidth, bool kSample>
void launch_chosen(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists,
                   cudaStream_t stream) {
  const auto launch = job.starts != nullptr ? sm90::launch<kWidth, true, kSample, float, true>
                                            : sm90::launch<kWidth, false, kSample, float, true>;
  launch(job, maxima, n_maxima, lists, stream);
}

#define STOPE_CHOSEN(width)                                                                                        \
  template void launch_chosen<width, true>(const ScanJob&, float*, std::int64_t, const GroupLists&, cudaStream_t); \
  template void launch_chosen<width, false>(const ScanJob&, float*, std::int64_t, const GroupLists&, cudaStream_t)
STOPE_CHOSEN(32);
STOPE_CHOSEN(64);
STOPE_CHOSEN(96);
STOPE_CHOSEN(128);
#undef STOPE_CHOSEN

}  // namespace stope::knn::cuda
