// The scan on Hopper for images in halves (sm90.cuh; sm90_wide.cu has those of more than 128 columns).
#include "knn/cuda/tensor/scan/sm90.cuh"

namespace stope::knn::cuda {

void launch_sample_wide(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream);
void launch_list_wide(const ScanJob& job, const GroupLists& lists, cudaStream_t stream);

template <int kWidth, bool kSample>
void launch_chosen(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists,
                   cudaStream_t stream);

namespace {

template <int kWidth, bool kSample>
void launch_width(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists,
                  cudaStream_t stream) {
  if (job.chosen.queries != nullptr) return launch_chosen<kWidth, kSample>(job, maxima, n_maxima, lists, stream);
  const auto launch =
      job.starts != nullptr ? sm90::launch<kWidth, true, kSample, float> : sm90::launch<kWidth, false, kSample, float>;
  launch(job, maxima, n_maxima, lists, stream);
}

template <bool kSample>
void launch_narrow(const ScanJob& job, float* maxima, std::int64_t n_maxima, const GroupLists& lists,
                   cudaStream_t stream) {
  switch (job.width) {
    case 32: return launch_width<32, kSample>(job, maxima, n_maxima, lists, stream);
    case 64: return launch_width<64, kSample>(job, maxima, n_maxima, lists, stream);
    case 96: return launch_width<96, kSample>(job, maxima, n_maxima, lists, stream);
    default: return launch_width<128, kSample>(job, maxima, n_maxima, lists, stream);
  }
}

}  // namespace

void launch_sample_sm90(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  if (scans_tiles(job.width)) return launch_sample_wide(job, maxima, n_maxima, stream);
  launch_narrow<true>(job, maxima, n_maxima, {}, stream);
}

void launch_list_sm90(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  if (job.n_queries == 0 || job.n_tiles == 0) return;
  if (scans_tiles(job.width)) return launch_list_wide(job, lists, stream);
  launch_narrow<false>(job, nullptr, 0, lists, stream);
}

}  // namespace stope::knn::cuda
