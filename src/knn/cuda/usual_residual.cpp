#include "knn/cuda/usual_residual.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/checked.hpp"
#include "device/cuda/check.hpp"

namespace stope::knn::cuda {

float usual_residual(const stope::cuda::DeviceBuffer<float>& residuals, std::int64_t n_rows,
                     const stope::cuda::Stream& stream) {
  constexpr std::int64_t kSample = 4096;
  const std::int64_t stride = std::max<std::int64_t>(1, n_rows / kSample);
  const std::int64_t n = checked::ceil_div(n_rows, stride);
  std::vector<float> sample(static_cast<std::size_t>(n));
  stope::cuda::check(cudaMemcpy2DAsync(sample.data(), sizeof(float), residuals.data(),
                                       static_cast<std::size_t>(stride) * sizeof(float), sizeof(float),
                                       static_cast<std::size_t>(n), cudaMemcpyDeviceToHost, stream.get()),
                     "copying from the GPU");
  stream.wait();
  std::erase_if(sample, [](float residual) { return std::isnan(residual); });
  if (sample.empty()) return 0.0F;
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / 256);
  std::nth_element(sample.begin(), at, sample.end());
  return *at;
}

}  // namespace stope::knn::cuda
