#include "knn/filter/derived_images.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/byte_steps.hpp"
#include "knn/filter/present_products.hpp"

namespace stope::knn {
namespace {

constexpr double kNibbleCentre = 7.5;  // 0 lies between nibbles 7 and 8

Rounding choose_rounding(const TrainImages& images, const ImageMap& map, ScanKind kind) {
  // The outermost nibbles stand for values up to half a step beyond them.
  if (kind == ScanKind::nibble_products) return {choose_steps(images, map, kNibbleCentre + 0.5), kNibbleCentre, 0, 15};
  return {choose_steps(images, map, kLargestStep), 0.0F, -kLargestStep, kLargestStep};
}

// Returns the byte of a value that is only compared for equality. Different bytes come from different values.
std::uint8_t equality_byte(float value) {
  if (value != value) return kMissingByte;
  return static_cast<std::uint8_t>(1 + static_cast<std::int64_t>(std::fabs(value)) % 255);
}

// Rounds the term of a mismatch down, and an attribute's share of the divisor up. Both make the filter drop fewer rows.
void set_mismatches(const ImageMap& map, ByteImages& images) {
  images.mismatch.assign(static_cast<std::size_t>(images.query_bytes()), 0);
  images.weight = images.mismatch;
  const float* const weight = map.weight();
  images.weight_steps = 255.0 / static_cast<double>(*std::max_element(weight, weight + map.n_columns()));
  for (std::int64_t c = 0; c < map.n_columns(); ++c) {
    const auto at = static_cast<std::size_t>(images.place(c));
    const double mismatch = static_cast<double>(map.mismatch()[c]) * images.steps * (1.0 - 1e-12);
    images.mismatch[at] = static_cast<std::uint8_t>(std::clamp(std::floor(mismatch), 0.0, 255.0));
    const double part = static_cast<double>(weight[c]) * images.weight_steps * (1.0 - 1e-12);
    images.weight[at] = static_cast<std::uint8_t>(std::clamp(std::ceil(part), 1.0, 255.0));
  }
  // This allows for what rounding `part` may have lost.
  images.weight_steps *= 1.0 - 1e-11;
}

}  // namespace

bool fits(const ImageMap& map, ScanKind kind) {
  if (kind == ScanKind::differences) return true;
  if (kind == ScanKind::byte_products_present) return fits_present_products(map);
  constexpr std::int64_t kMostColumns = 16384;  // byte products of so many terms fit in 32 bits
  const FilterForm& form = map.form();
  if (form.missing == Missing::mismatch || map.n_columns() > kMostColumns) return false;
  if (kind >= ScanKind::byte_differences) return form.term == Term::absolute && form.divisor != Divisor::total;
  return form.term == Term::square && form.divisor == Divisor::none && map.n_columns() == map.n_numeric();
}

FloatProducts make_float_products(const TrainImages& images, std::int64_t n_columns, ThreadPool& pool,
                                  const CancelToken& cancel) {
  FloatProducts products;
  products.starts = Buffer<float>(images.n_blocks * kScanBlockRows);
  std::vector<double> largest(static_cast<std::size_t>(images.n_blocks), 0.0);
  pool.parallel_for(images.n_blocks, cancel, [&](std::int64_t number, int) {
    const float* block = images.blocks.data() + number * kScanBlockRows * n_columns;
    double norms[kScanBlockRows] = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      for (int row = 0; row < kScanBlockRows; ++row) {
        const auto value = static_cast<double>(block[c * kScanBlockRows + row]);
        norms[row] += value * value;
      }
    }
    for (int row = 0; row < kScanBlockRows; ++row) {
      const std::int64_t position = number * kScanBlockRows + row;
      products.starts[position] = static_cast<float>(-0.5 * norms[row]);
      double& most = largest[static_cast<std::size_t>(number)];
      if (position < images.n_rows && !listed(images.always, position)) most = std::max(most, norms[row]);
    }
  });
  products.largest_norm = std::sqrt(*std::max_element(largest.begin(), largest.end()));
  return products;
}

ByteImages make_byte_images(const TrainImages& images, const ImageMap& map, ScanKind kind, ThreadPool& pool,
                            const CancelToken& cancel) {
  ByteImages result;
  result.kind = kind;
  const bool products = result.products(), nibbles = result.nibbles();
  const std::int64_t n_columns = result.n_columns = map.n_columns();
  const Rounding rounding = choose_rounding(images, map, kind);
  const auto twice_centre = static_cast<std::int32_t>(2.0F * rounding.centre);
  result.n_numeric = map.n_numeric();
  result.steps = static_cast<double>(rounding.steps);
  const std::int64_t group_size = result.group_size(), group_bytes = result.group_bytes(),
                     n_slots = images.n_blocks * kScanBlockRows;
  result.n_numeric_groups = checked::ceil_div(result.n_numeric, group_size);
  result.n_groups = result.n_numeric_groups + checked::ceil_div(n_columns - result.n_numeric, group_size);
  if (!products) set_mismatches(map, result);
  result.bytes = Buffer<std::uint8_t>(checked::mul(n_slots, result.row_bytes()));
  prefer_huge_pages(result.bytes.data(), static_cast<std::size_t>(result.bytes.size()));
  if (products) result.starts = Buffer<std::int32_t>(n_slots);
  result.always = images.always;
  Buffer<float> residuals(n_slots);
  Buffer<std::int32_t> divisors(products ? 0 : n_slots);
  pool.parallel_for(images.n_blocks, cancel, [&](std::int64_t number, int) {
    const float* block = images.blocks.data() + number * kScanBlockRows * n_columns;
    std::uint8_t* bytes = result.bytes.data() + number * kScanBlockRows * result.row_bytes();
    std::fill_n(bytes, kScanBlockRows * result.row_bytes(), static_cast<std::uint8_t>(nibbles ? 0 : 128));
    // The loops go column by column over 64 rows, so that they become vector code.
    std::int32_t squares[kScanBlockRows] = {};
    float errors[kScanBlockRows] = {};
    std::int32_t by[kScanBlockRows] = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const std::int64_t at = result.place(c), in_group = at % group_size;
      std::uint8_t* out = bytes + at / group_size * kScanBlockRows * group_bytes + in_group % group_bytes;
      const std::int32_t factor = in_group < group_bytes ? 1 : 16;  // of the upper nibble
      const float* column = block + c * kScanBlockRows;
      const std::int32_t weight = products ? 0 : result.weight[static_cast<std::size_t>(at)];
      for (int row = 0; row < kScanBlockRows; ++row) by[row] += column[row] == column[row] ? weight : 0;
      if (c >= result.n_numeric) {
        for (int row = 0; row < kScanBlockRows; ++row) out[row * group_bytes] = equality_byte(column[row]);
        continue;
      }
      for (int row = 0; row < kScanBlockRows; ++row) {
        const bool present = column[row] == column[row];
        const float value = present ? column[row] : 0.0F;
        const float scaled = value * rounding.steps + rounding.centre;
        const float whole = whole_number(scaled, rounding);
        const float error = std::fabs(scaled - whole);
        const auto step = static_cast<std::int32_t>(whole);
        squares[row] += step * (step - twice_centre);
        errors[row] += products ? error * error : error;
        std::uint8_t& byte = out[row * group_bytes];
        byte = static_cast<std::uint8_t>(nibbles ? byte + factor * step : present ? step + 128 : kMissingByte);
      }
    }
    for (int row = 0; row < kScanBlockRows; ++row) {
      // A nibble has 16 steps of a query, and its products are in units of 16 squares of these: 8 n (n - 15) is half of
      // the square of n - 7.5, less a constant, which is in the query's offset.
      if (products) result.starts[number * kScanBlockRows + row] = nibbles ? -8 * squares[row] : -(squares[row] / 2);
      if (!products) divisors[number * kScanBlockRows + row] = by[row];
      residuals[number * kScanBlockRows + row] = errors[row];
    }
  });
  const float largest = list_outliers(images.n_rows, residuals, result.always);
  result.least_by = std::accumulate(result.weight.begin(), result.weight.end(), std::int64_t{0});
  for (std::int64_t position = 0; !products && position < images.n_rows; ++position) {
    if (!listed(result.always, position)) result.least_by = std::min<std::int64_t>(result.least_by, divisors[position]);
  }
  if (products) {
    result.residual = norm_of_errors(largest, n_columns);
    return result;
  }
  // The same for sums of absolute errors.
  const auto columns = static_cast<double>(n_columns);
  result.residual = static_cast<double>(largest) * (1.0 + (columns + 8.0) * 0x1p-23) + columns * kLargestStep * 0x1p-22;
  return result;
}

ByteImage make_byte_image(const float* image, const ByteImages& train, std::uint8_t* bytes) {
  const bool products = train.products();
  const double added = train.nibbles() ? kNibbleCentre : 128.0, fine = train.query_steps();
  ByteImage result;
  double errors = 0.0;
  result.least_by = train.least_by;  // less what the query lacks
  std::fill(bytes, bytes + train.query_bytes(), static_cast<std::uint8_t>(products ? 0 : 128));
  for (std::int64_t c = 0; c < train.n_columns; ++c) {
    std::uint8_t& byte = bytes[train.place(c)];
    if (image[c] != image[c]) result.least_by -= train.weight[static_cast<std::size_t>(train.place(c))];
    if (c >= train.n_numeric) {
      byte = equality_byte(image[c]);
      continue;
    }
    if (image[c] != image[c]) {
      byte = kMissingByte;
      continue;
    }
    const double value = static_cast<double>(image[c]) * train.steps * fine;
    const auto whole = static_cast<std::int32_t>(std::nearbyint(std::clamp(value, -kLargestStep, kLargestStep)));
    const double error = std::fabs(value - whole) / fine;
    errors += products ? error * error : error;
    result.norm += static_cast<double>(whole) * whole / fine;
    result.offset += added * whole;
    byte = static_cast<std::uint8_t>(products ? whole : whole + 128);
  }
  if (train.nibbles()) {  // half of the square of the centre, see starts
    result.offset += 0.5 * fine * kNibbleCentre * kNibbleCentre * static_cast<double>(train.n_columns);
  }
  result.least_by = std::max<std::int64_t>(result.least_by, 1);
  result.residual = (products ? std::sqrt(errors) : errors) * (1.0 + 1e-9);
  return result;
}

}  // namespace stope::knn
