// Chooses the scan by the GPU's compute capability, unless a test forces one.
#include <string>
#include <string_view>

#include "base/environment.hpp"
#include "device/cuda/attribute.hpp"
#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/scan/kernels.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {
namespace {

using stope::cuda::Capability;

Capability capability_of_this_gpu() {
  int gpu = 0;
  stope::cuda::check(cudaGetDevice(&gpu), "asking for the GPU");
  return stope::cuda::capability_of(gpu);
}

struct NamedScan {
  const char* name;
  Scan scan;
  int least_major, least_minor;
};
constexpr NamedScan kScans[] = {{"sm90", Scan::sm90, 9, 0}, {"sm80", Scan::sm80, 8, 0}, {"sm75", Scan::sm75, 7, 5}};

bool has(const Capability& gpu, const NamedScan& scan) {
  if (scan.scan == Scan::sm90) return gpu.major == 9 && gpu.minor == 0;  // later GPUs lack Hopper's instructions
  return gpu.major > scan.least_major || (gpu.major == scan.least_major && gpu.minor >= scan.least_minor);
}

Scan scan_of(const Capability& gpu, std::int64_t n_queries) {
  const std::string_view forced = environment::word(environment::Variable::cuda_scan);
  // The host obeys "bytes" and "halves" (knn/gpu/tensor/byte_columns.cpp). Neither says which scan of halves is used.
  if (forced.empty() || forced == "bytes" || forced == "halves") {
    if (n_queries <= cuda_abi::kFewQueries) return Scan::few;
    for (const NamedScan& scan : kScans) {
      if (has(gpu, scan)) return scan.scan;
    }
    throw Error(ErrorCode::unsupported, "the GPU has no matrix instructions that a scan is written for");
  }
  if (forced == "few") return Scan::few;
  for (const NamedScan& scan : kScans) {
    if (forced == scan.name && has(gpu, scan)) return scan.scan;
  }
  throw Error(ErrorCode::invalid_argument, "STOPE_CUDA_SCAN='" + std::string(forced) + "' is not a scan of this GPU");
}

}  // namespace

bool can_choose_tiles(int width, bool bytes, std::int64_t n_queries) {
  return !bytes && !scans_tiles(width) && scan_of(capability_of_this_gpu(), n_queries) == Scan::sm90;
}

void launch_sample(const ScanJob& job, float* maxima, std::int64_t n_maxima, cudaStream_t stream) {
  if (job.bytes) return launch_sample_bytes(job, maxima, n_maxima, stream);
  switch (scan_of(capability_of_this_gpu(), job.n_queries)) {
    case Scan::sm90: return launch_sample_sm90(job, maxima, n_maxima, stream);
    case Scan::sm80: return launch_sample_sm80(job, maxima, n_maxima, stream);
    case Scan::sm75: return launch_sample_sm75(job, maxima, n_maxima, stream);
    case Scan::few: return launch_sample_few(job, maxima, n_maxima, stream);
  }
}

void launch_list(const ScanJob& job, const GroupLists& lists, cudaStream_t stream) {
  if (job.bytes) return launch_list_bytes(job, lists, stream);
  switch (scan_of(capability_of_this_gpu(), job.n_queries)) {
    case Scan::sm90: return launch_list_sm90(job, lists, stream);
    case Scan::sm80: return launch_list_sm80(job, lists, stream);
    case Scan::sm75: return launch_list_sm75(job, lists, stream);
    case Scan::few: return launch_list_few(job, lists, stream);
  }
}

}  // namespace stope::knn::cuda
