#include "knn/filter/byte_steps.hpp"

#include <cmath>

namespace stope::knn {

float choose_steps(const TrainImages& images, const ImageMap& map, double largest) {
  constexpr double kMostSteps = 1e30;
  double size = images.usual_size;
  if (map.n_numeric() == 0) {
    for (std::int64_t c = 0; c < map.n_columns(); ++c) {
      size = std::max(size, static_cast<double>(map.mismatch()[c]) * (kLargestStep / 255.0));
    }
  }
  return static_cast<float>(size > 0.0 ? std::min(largest / size, kMostSteps) : 1.0);
}

float list_outliers(std::int64_t n_rows, const Buffer<float>& residuals, std::vector<std::uint64_t>& always) {
  std::vector<float> sample;
  const std::int64_t stride = std::max<std::int64_t>(1, n_rows / 4096);
  sample.reserve(static_cast<std::size_t>(n_rows / stride + 1));
  for (std::int64_t position = 0; position < n_rows; position += stride) {
    if (!std::isnan(residuals[position])) sample.push_back(residuals[position]);
  }
  float usual = 0.0F;
  if (!sample.empty()) {
    const auto at = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / 256);
    std::nth_element(sample.begin(), at, sample.end());
    usual = 1.5F * *at;
  }
  float largest = 0.0F;
  for (std::int64_t position = 0; position < n_rows; ++position) {
    if (residuals[position] <= usual) {
      largest = std::max(largest, residuals[position]);
      continue;
    }
    always[static_cast<std::size_t>(position / kScanBlockRows)] |= std::uint64_t{1} << (position % kScanBlockRows);
  }
  return largest;
}

double norm_of_errors(float squares, std::int64_t n_columns) {
  const auto columns = static_cast<double>(n_columns);
  const double share = 1.0 + (columns + 8.0) * 0x1p-23;
  return std::sqrt(static_cast<double>(squares)) * share + std::sqrt(columns) * kLargestStep * 0x1p-22;
}

}  // namespace stope::knn
