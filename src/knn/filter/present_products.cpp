#include "knn/filter/present_products.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "knn/filter/byte_steps.hpp"

namespace stope::knn {
namespace {

constexpr std::int64_t kGroup = 4;
constexpr std::int64_t kMostColumns = 16384;  // products of so many terms fit in 32 bits
constexpr std::uint8_t kMask = 64;            // half of the 128 by which squares are divided
// A weight is the sum of up to kMostColumns floats, each of which is rounded.
constexpr double kRoundedUp = 1.0 + 1e-6;

constexpr std::int32_t part_of_square(std::int32_t n) {
  return (n * n + 127) / 128;
}

// The groups of which some row that a bound covers may lack a column.
std::vector<std::int32_t> masked_groups(const ImageMap& map) {
  std::vector<std::int32_t> masked;
  for (std::int64_t c = 0; c < map.n_columns(); ++c) {
    const auto group = static_cast<std::int32_t>(c / kGroup);
    const bool known = !masked.empty() && masked.back() == group;
    if (!known && map.lacks(map.numeric()[static_cast<std::size_t>(c)])) masked.push_back(group);
  }
  return masked;
}

class Encoder {
 public:
  Encoder(const EncodeKernels& kernels, const Rounding& rounding, PresentProducts& result, Buffer<float>& residuals)
      : kernels_(kernels), rounding_(rounding), result_(result), residuals_(residuals) {
    for (std::int64_t c = 0; c < result.n_columns; ++c) {
      const bool masked = result.mask_places[static_cast<std::size_t>(c / kGroup)] >= 0;
      present_weight_ += masked ? 0.0 : result.weight[static_cast<std::size_t>(c)];
    }
  }

  void encode(std::int64_t number, const float* block) const {
    constexpr std::int64_t kGroupBytes = kScanBlockRows * kGroup;
    std::uint8_t* const numbers = result_.bytes.data() + number * kScanBlockRows * result_.row_bytes();
    std::uint8_t* const masks = numbers + kGroupBytes * result_.n_groups;
    std::uint8_t* const parts = masks + kGroupBytes * result_.n_masked();
    std::int32_t squares[kScanBlockRows];
    kernels_.byte_steps(block, result_.n_columns, rounding_, numbers, squares,
                        residuals_.data() + number * kScanBlockRows);
    for (std::int64_t i = 0; i < kGroupBytes * result_.n_groups; ++i) {
      parts[i] = static_cast<std::uint8_t>(part_of_square(numbers[i] - 128));
    }
    double weights[kScanBlockRows];
    std::fill_n(weights, kScanBlockRows, present_weight_);
    std::fill_n(masks, kGroupBytes * result_.n_masked(), std::uint8_t{0});
    for (std::int64_t i = 0; i < result_.n_masked(); ++i) {
      const std::int64_t first = kGroup * result_.masked[static_cast<std::size_t>(i)];
      for (std::int64_t c = first; c < std::min(first + kGroup, result_.n_columns); ++c) {
        const float* column = block + c * kScanBlockRows;
        std::uint8_t* const mask = masks + i * kGroupBytes + c % kGroup;
        const double weight = result_.weight[static_cast<std::size_t>(c)];
        for (int row = 0; row < kScanBlockRows; ++row) {
          const bool present = column[row] == column[row];
          mask[row * kGroup] = present ? 0 : kMask;
          weights[row] += present ? weight : 0.0;
        }
      }
    }
    const bool divides = result_.weight.front() > 0.0;
    for (int row = 0; row < kScanBlockRows; ++row) {
      const std::int64_t position = number * kScanBlockRows + row;
      result_.starts[position] = -(squares[row] / 2);
      result_.weights[position] = divides ? round_up(std::max(weights[row] * kRoundedUp, result_.least_weight)) : 1.0F;
    }
  }

 private:
  const EncodeKernels& kernels_;
  const Rounding& rounding_;
  PresentProducts& result_;
  Buffer<float>& residuals_;
  double present_weight_ = 0.0;  // of the columns that no row with a bound lacks
};

}  // namespace

bool fits_present_products(const ImageMap& map) {
  const FilterForm& form = map.form();
  return form.term == Term::square && form.divisor != Divisor::total && form.missing == Missing::skip &&
         map.n_columns() == map.n_numeric() && map.n_columns() <= kMostColumns;
}

PresentProducts make_present_products(const ImageSource& source, ThreadPool& pool, const CancelToken& cancel) {
  const ImageMap& map = source.map();
  PresentProducts result;
  const auto largest = static_cast<float>(kLargestStep);
  const Rounding rounding{choose_steps(source.images, map, kLargestStep), 0.0F, -largest, largest};
  result.steps = static_cast<double>(rounding.steps);
  result.n_columns = map.n_columns();
  result.n_groups = checked::ceil_div(result.n_columns, kGroup);
  result.masked = masked_groups(map);
  result.mask_places.assign(static_cast<std::size_t>(result.n_groups), -1);
  for (std::int64_t i = 0; i < result.n_masked(); ++i) {
    const auto group = static_cast<std::size_t>(result.masked[static_cast<std::size_t>(i)]);
    result.mask_places[group] = static_cast<std::int32_t>(result.n_groups + i);
  }
  const bool divides = map.form().divisor == Divisor::present_weight;
  for (std::int64_t c = 0; c < result.n_columns; ++c) {
    result.weight.push_back(divides ? static_cast<double>(map.weight()[c]) : 0.0);
  }
  if (divides) result.least_weight = *std::min_element(result.weight.begin(), result.weight.end());
  const std::int64_t n_slots = source.n_slots();
  result.bytes = Buffer<std::uint8_t>(checked::mul(n_slots, result.row_bytes()));
  prefer_huge_pages(result.bytes.data(), static_cast<std::size_t>(result.bytes.size()));
  result.starts = Buffer<std::int32_t>(n_slots);
  result.weights = Buffer<float>(n_slots);
  result.always.assign(static_cast<std::size_t>(source.images.n_blocks), 0);
  Buffer<float> residuals(n_slots);
  const Encoder encoder(source.mapper.kernels(), rounding, result, residuals);
  for_each_block(source, pool, cancel, [&](std::int64_t number, const float* block, std::uint64_t always) {
    result.always[static_cast<std::size_t>(number)] = always;
    encoder.encode(number, block);
  });
  result.residual = norm_of_errors(list_outliers(source.images.n_rows, residuals, result.always), result.n_columns);
  return result;
}

PresentImage make_present_image(const float* image, const PresentProducts& train, std::uint8_t* bytes,
                                std::int32_t* gaps) {
  PresentImage result;
  std::fill_n(bytes, train.row_bytes(), std::uint8_t{0});
  std::vector<std::uint8_t> parts(static_cast<std::size_t>(kGroup * train.n_groups), 0);
  std::uint8_t* const lacking = bytes + kGroup * (train.n_groups + train.n_masked());
  std::int32_t n_gaps = 0, n_lacking = 0;
  double errors = 0.0, weight = 0.0, least = std::numeric_limits<double>::infinity();
  for (std::int64_t c = 0; c < train.n_columns; ++c) {
    const auto group = static_cast<std::int32_t>(c / kGroup);
    if (image[c] != image[c]) {
      lacking[c] = kMask;
      ++n_lacking;
      least = std::min(least, train.weight[static_cast<std::size_t>(c)]);
      if (n_gaps > 0 && gaps[2 * n_gaps - 1] == group) continue;
      gaps[2 * n_gaps + 1] = group;
      gaps[2 * n_gaps + 2] = train.mask_places[static_cast<std::size_t>(group)];
      ++n_gaps;
      continue;
    }
    const double value = static_cast<double>(image[c]) * train.steps;
    const auto whole = static_cast<std::int32_t>(std::nearbyint(std::clamp(value, -kLargestStep, kLargestStep)));
    const double error = std::fabs(value - whole);
    errors += error * error;
    weight += train.weight[static_cast<std::size_t>(c)];
    result.norm += static_cast<double>(whole) * whole;
    result.offset += 128.0 * whole;
    bytes[c] = static_cast<std::uint8_t>(whole);
    parts[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(part_of_square(whole));
  }
  gaps[0] = n_gaps;
  for (std::int64_t i = 0; i < train.n_masked(); ++i) {
    const auto* const from = parts.data() + kGroup * train.masked[static_cast<std::size_t>(i)];
    std::copy_n(from, kGroup, bytes + kGroup * (train.n_groups + i));
  }
  if (train.weight.front() > 0.0) result.weight = std::max(weight * kRoundedUp, train.least_weight);
  if (n_lacking > 0) {
    result.least = least;
    result.lacking = least * static_cast<double>(n_lacking) * (1.0 - 1e-6);  // it is subtracted in floats
  }
  result.residual = std::sqrt(errors) * (1.0 + 1e-9);
  return result;
}

}  // namespace stope::knn
