#include "knn/gpu/tensor/byte_columns.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/environment.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/gpu/tensor/resident_table.hpp"

namespace stope::knn {
namespace {

// Up to 64 columns, scans of halves are as fast, and their images are made sooner (measured, docs/adr/0007).
constexpr std::int64_t kLeastColumns = 65;

bool pay(std::int64_t n_columns) {
  const std::string_view forced = environment::word(environment::Variable::cuda_scan);
  return forced == "bytes" || (forced.empty() && n_columns >= kLeastColumns);
}

}  // namespace

ImageElement choose_image_element(const Fitted& fitted, const ImageMap& map, const device::BackendChoice& backend) {
  if (map.byte_grid() == nullptr || !pay(fitted.width())) return ImageElement::halves;
  GpuFilterCache& cache = fitted.gpu_filters();
  if (cache.requires_images(ImageNeed::missing) || cache.requires_images(ImageNeed::halves))
    return ImageElement::halves;
  const TensorFilterSpec spec(fitted, map, ImageElement::bytes, 1, 1, 1);
  const auto scans = [&](int gpu) {
    cuda_abi::FilterSize size{};
    checked_call(
        [&](cuda_abi::Failure* failure) { return cuda_functions().tensor_size(gpu, &spec.spec, &size, failure); });
    return size.possible;
  };
  return std::all_of(backend.gpus.begin(), backend.gpus.end(), scans) ? ImageElement::bytes : ImageElement::halves;
}

ImageColumns make_byte_columns(const ByteGrid& grid) {
  ImageColumns result;
  for (const double centre : grid.centres) {
    cuda_abi::ImageColumn column{};
    column.source = static_cast<std::int32_t>(result.columns.size());
    column.query = column.train = cuda_abi::ImagePart::number;
    column.query_factor = static_cast<float>(grid.factor);
    column.train_factor = 1.0F;
    column.centre = centre;
    column.scale = 1.0 / grid.step;
    result.columns.push_back(column);
  }
  result.byte_factor = grid.factor;
  result.width = grid.centres.size() <= kMostGridColumns / 2 ? kMostGridColumns / 2 : kMostGridColumns;
  // In the images, squares of distances are `factor` times the squares in steps.
  result.unit = std::sqrt(static_cast<double>(grid.factor)) / grid.step;
  // A score starts at -|t|^2 / 2, rounded to a whole number. With a factor of 2 nothing is rounded.
  result.product_error = grid.factor == 1 ? 0.5 : 0.0;
  return result;
}

bool many_off_grid(const ByteGrid& grid, const double* rows, std::int64_t n, std::int64_t n_queries) {
  // The filter may still answer some of them; otherwise this is the number in many_gaps().
  constexpr std::int64_t kMostForTheReference = 128;
  const auto width = static_cast<std::int64_t>(grid.centres.size());
  std::int64_t off_grid = 0;
  for (std::int64_t i = 0; i < n; ++i) off_grid += grid.has(rows + i * width) ? 0 : 1;
  return static_cast<double>(off_grid) * static_cast<double>(n_queries) >
         static_cast<double>(kMostForTheReference) * static_cast<double>(n);
}

}  // namespace stope::knn
