#include "knn/filter/products.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

constexpr double kLargestStep = 127.0;

bool listed(const std::vector<std::uint64_t>& always, std::int64_t slot) {
  return (always[static_cast<std::size_t>(slot / kBlockRows)] >> (slot % kBlockRows) & 1) != 0;
}

const float* image_of(const TrainImages& images, std::int64_t n_columns, std::int64_t slot) {
  return images.blocks.data() + slot / kBlockRows * kBlockRows * n_columns + slot % kBlockRows;
}

// The largest |value| of all but one row in 512 of a sample: outliers are cut off at the largest step (their residual
// says so) instead of making every step coarser.
double usual_size(const TrainImages& images, std::int64_t n_columns) {
  std::vector<double> sizes;
  const std::int64_t step = std::max<std::int64_t>(1, images.n_rows / 2048);
  for (std::int64_t slot = 0; slot < images.n_rows; slot += step) {
    if (listed(images.always, slot)) continue;
    double size = 0.0;
    const float* image = image_of(images, n_columns, slot);
    for (std::int64_t c = 0; c < n_columns; ++c) {
      size = std::max(size, std::fabs(static_cast<double>(image[c * kBlockRows])));
    }
    sizes.push_back(size);
  }
  if (sizes.empty()) return 0.0;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() - 1 - sizes.size() / 512);
  std::nth_element(sizes.begin(), at, sizes.end());
  return *at;
}

// The value in whole steps. The addition rounds to nearest: 1.5 * 2^23 leaves no bits below 1.
float in_steps(float value, float steps) {
  constexpr float kRound = 12582912.0F;
  const float scaled = std::clamp(value * steps, -127.0F, 127.0F);
  return (scaled + kRound) - kRound;
}

}  // namespace

bool fits(const ImageMap& map, ScanKind kind) {
  if (kind == ScanKind::differences) return true;
  constexpr std::int64_t kMostColumns = 16384;  // byte products of so many terms fit 32 bits
  const FilterForm& form = map.form();
  return form.term == (kind == ScanKind::byte_differences ? Term::absolute : Term::square) &&
         form.divisor == Divisor::none && form.missing != Missing::mismatch && map.n_columns() == map.n_numeric() &&
         map.n_columns() <= kMostColumns;
}

FloatProducts make_float_products(const TrainImages& images, std::int64_t n_columns) {
  FloatProducts products;
  products.starts = Buffer<float>(images.n_blocks * kBlockRows);
  double largest = 0.0;
  for (std::int64_t slot = 0; slot < products.starts.size(); ++slot) {
    const float* image = image_of(images, n_columns, slot);
    double norm = 0.0;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      norm += static_cast<double>(image[c * kBlockRows]) * static_cast<double>(image[c * kBlockRows]);
    }
    products.starts[slot] = static_cast<float>(-0.5 * norm);
    if (slot < images.n_rows && !listed(images.always, slot)) largest = std::max(largest, norm);
  }
  products.largest_norm = std::sqrt(largest);
  return products;
}

ByteImages make_byte_images(const TrainImages& images, std::int64_t n_columns, ScanKind kind, ThreadPool& pool,
                            const CancelToken& cancel) {
  ByteImages result;
  result.kind = kind;
  const bool products = kind == ScanKind::byte_products;
  const double size = usual_size(images, n_columns);
  // Finite as a float, and finite times any image below 1: the residual shows where that makes steps too coarse.
  constexpr double kMostSteps = 1e30;
  const auto steps = static_cast<float>(size > 0.0 ? std::min(kLargestStep / size, kMostSteps) : 1.0);
  result.steps = static_cast<double>(steps);
  result.n_groups = checked::ceil_div(n_columns, result.group_size());
  const std::int64_t group_size = result.group_size(), n_slots = images.n_blocks * kBlockRows;
  result.bytes = Buffer<std::uint8_t>(checked::mul(n_slots, result.query_bytes()));
  if (products) result.starts = Buffer<std::int32_t>(n_slots);
  result.always = images.always;
  Buffer<float> residuals(n_slots);
  pool.parallel_for(images.n_blocks, cancel, [&](std::int64_t number, int) {
    const float* block = images.blocks.data() + number * kBlockRows * n_columns;
    std::uint8_t* bytes = result.bytes.data() + number * kBlockRows * result.query_bytes();
    // Column by column over 64 rows: the loops below become vector code.
    std::int32_t squares[kBlockRows] = {};
    float errors[kBlockRows] = {};
    for (std::int64_t c = 0; c < result.query_bytes(); ++c) {
      std::uint8_t* out = bytes + c / group_size * kBlockRows * group_size + c % group_size;
      if (c >= n_columns) {
        for (int row = 0; row < kBlockRows; ++row) out[row * group_size] = 128;
        continue;
      }
      const float* column = block + c * kBlockRows;
      for (int row = 0; row < kBlockRows; ++row) {
        const float value = column[row] == column[row] ? column[row] : 0.0F;
        const float whole = in_steps(value, steps);
        const float error = std::fabs(value * steps - whole);
        const auto step = static_cast<std::int32_t>(whole);
        squares[row] += step * step;
        errors[row] += products ? error * error : error;
        out[row * group_size] = static_cast<std::uint8_t>(step + 128);
      }
    }
    for (int row = 0; row < kBlockRows; ++row) {
      if (products) result.starts[number * kBlockRows + row] = -(squares[row] / 2);
      residuals[number * kBlockRows + row] = errors[row];
    }
  });
  // Rows far above the usual residual are always listed instead of widening every bound.
  std::vector<float> sample;
  const std::int64_t stride = std::max<std::int64_t>(1, images.n_rows / 4096);
  for (std::int64_t slot = 0; slot < images.n_rows; slot += stride) sample.push_back(residuals[slot]);
  const auto at = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() - 1 - sample.size() / 256);
  std::nth_element(sample.begin(), at, sample.end());
  const float usual = 1.5F * *at;
  for (std::int64_t slot = 0; slot < images.n_rows; ++slot) {
    if (residuals[slot] <= usual) continue;
    result.always[static_cast<std::size_t>(slot / kBlockRows)] |= std::uint64_t{1} << (slot % kBlockRows);
  }
  // The errors themselves were computed in float: value * steps is off by 2^-24 of at most 127, the sum by a share.
  const auto columns = static_cast<double>(n_columns);
  const double share = 1.0 + (columns + 8.0) * 0x1p-23;
  const double rounding = (products ? std::sqrt(columns) : columns) * 127.0 * 0x1p-22;
  result.residual = (products ? std::sqrt(static_cast<double>(usual)) : static_cast<double>(usual)) * share + rounding;
  return result;
}

ByteImage make_byte_image(const float* image, std::int64_t n_columns, const ByteImages& train, std::uint8_t* bytes) {
  const bool products = train.kind == ScanKind::byte_products;
  ByteImage result;
  double errors = 0.0;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const double value = static_cast<double>(image[c]) * train.steps;
    const auto whole = static_cast<std::int32_t>(std::nearbyint(std::clamp(value, -kLargestStep, kLargestStep)));
    const double error = std::fabs(value - whole);
    errors += products ? error * error : error;
    result.norm += static_cast<double>(whole) * whole;
    result.offset += 128 * whole;
    bytes[c] = static_cast<std::uint8_t>(products ? whole : whole + 128);
  }
  std::fill(bytes + n_columns, bytes + train.query_bytes(), static_cast<std::uint8_t>(products ? 0 : 128));
  result.residual = (products ? std::sqrt(errors) : errors) * (1.0 + 1e-9);
  return result;
}

}  // namespace stope::knn
