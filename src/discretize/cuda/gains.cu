// Makes the table of information() on the GPU, which has the CPU's bits (gains.hpp).
#include "discretize/cuda/gains.hpp"

#include "device/cuda/check.hpp"
#include "discretize/score.hpp"

namespace stope::discretize::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads) information_kernel(double* to, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) to[i] = information(static_cast<double>(i));
}

}  // namespace

GainMemory::GainMemory(cuda_abi::Score score, std::int64_t n_rows) : score_(score) {
  if (score != cuda_abi::Score::entropy || n_rows > kMostInformation) return;
  const std::int64_t n = n_rows + 1;
  information_ = stope::cuda::DeviceBuffer<double>(n);
  information_kernel<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(information_.data(), n);
  stope::cuda::check_launch("making a table of logarithms");
}

NodeGains gains_of_all(const cuda_abi::Decisions& decisions) {
  NodeGains all{decisions.n_rows, 0, total_entropy(decisions.totals, decisions.n_classes)};
  for (std::int32_t k = 0; k < decisions.n_classes; ++k) all.squares += decisions.totals[k] * decisions.totals[k];
  return all;
}

}  // namespace stope::discretize::cuda
