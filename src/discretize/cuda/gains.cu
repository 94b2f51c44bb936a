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

GainMemory::GainMemory(const cuda_abi::Decisions& decisions)
    : gains_{
          .score = decisions.score, .n_rows = decisions.n_rows, .squares = 0, .entropy = 0.0, .information = nullptr} {
  if (decisions.score == cuda_abi::Score::pairs) return;
  for (std::int32_t k = 0; k < decisions.n_classes; ++k) gains_.squares += decisions.totals[k] * decisions.totals[k];
  if (decisions.score == cuda_abi::Score::gini) return;
  gains_.entropy = total_entropy(decisions.totals, decisions.n_classes);
  if (decisions.n_rows > kMostInformation) return;
  const std::int64_t n = decisions.n_rows + 1;
  information_ = stope::cuda::DeviceBuffer<double>(n);
  information_kernel<<<static_cast<unsigned>((n + kThreads - 1) / kThreads), kThreads>>>(information_.data(), n);
  stope::cuda::check_launch("making a table of logarithms");
  gains_.information = information_.data();
}

}  // namespace stope::discretize::cuda
