#include "knn/gpu/tensor/image_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.hpp"

namespace stope::knn {
namespace {

using cuda_abi::ImageColumn;
using cuda_abi::ImagePart;

// Nominal values of one attribute share columns (value modulo columns) where there are more values than columns. With
// fewer columns, more pairs seem nearer than they are; with more, the product is longer. The first budget is some
// panels, the second the most that a row may take.
constexpr std::array<std::int64_t, 5> kMostBuckets = {64, 32, 16, 8, 4};
constexpr std::int64_t kColumnsWanted = 512;

// Rounds to the nearest half, as the GPU does with a factor.
double to_half(double value) {
  if (value == 0.0) return 0.0;
  const int exponent = std::max(std::ilogb(value), -14);
  const double unit = std::ldexp(1.0, exponent - 10);
  return std::nearbyint(value / unit) * unit;
}

class Builder {
 public:
  Builder(const ImageMap& map, const std::vector<Attribute>& attributes, bool gaps)
      : map_(map), attributes_(attributes), gaps_(gaps), skips_(map.form().missing == Missing::skip) {
    result_.takes_missing = gaps;
  }

  ImageColumns build() {
    choose_unit();
    for (const ImageMap::NumericColumn& column : map_.numeric()) add_number(column);
    const std::int64_t most_buckets = choose_buckets();
    for (const std::int64_t source : map_.equality()) add_nominal(source, most_buckets);
    choose_width();
    return std::move(result_);
  }

 private:
  const Attribute& attribute(std::int64_t source) const { return attributes_[static_cast<std::size_t>(source)]; }
  bool masked(std::int64_t source) const {
    return (gaps_ || attribute(source).missing) && map_.form().missing != Missing::undefined;
  }
  // Returns what a mismatch of an attribute adds to |q - t|^2.
  double mismatch(std::int64_t source) const { return attribute(source).weight * result_.unit * result_.unit; }

  // Numbers are near 1 already. Mismatches must be too, or their factors leave the range of halves.
  void choose_unit() {
    double largest = 1.0;
    for (const Attribute& a : attributes_) {
      if (a.nominal || map_.form().missing == Missing::mismatch) {
        largest = std::max(largest, std::sqrt(a.weight) * map_.unit());
      }
    }
    rescale_ = std::ldexp(1.0, -std::ilogb(largest));
    result_.unit = map_.unit() * rescale_;
  }

  ImageColumn& add(std::int64_t source, ImagePart query, ImagePart train) {
    ImageColumn column{};
    column.source = static_cast<std::int32_t>(source);
    column.query = query;
    column.train = train;
    column.query_factor = column.train_factor = 1.0F;
    column.masked = masked(source) ? 1 : 0;
    column.n_values = attribute(source).n_values;
    column.scale = 1.0;
    result_.columns.push_back(column);
    return result_.columns.back();
  }

  // Sets factors whose product is near `wanted`; their error joins the scores' error.
  void set_factors(ImageColumn& column, double wanted) {
    const double query = to_half(std::ldexp(1.0, std::ilogb(std::sqrt(std::fabs(wanted)))));
    const double train = query > 0.0 ? to_half(std::fabs(wanted) / query) : 0.0;
    column.query_factor = static_cast<float>(query);
    column.train_factor = static_cast<float>(std::copysign(train, wanted));
    result_.product_error += std::fabs(query * train - std::fabs(wanted));
  }

  void add_number(const ImageMap::NumericColumn& number) {
    const auto numeric = [&](ImagePart query, ImagePart train) -> ImageColumn& {
      ImageColumn& column = add(number.source, query, train);
      column.centre = number.centre;
      column.scale = number.scale * rescale_;
      return column;
    };
    numeric(ImagePart::number, ImagePart::number);
    if (!masked(number.source)) return;
    result_.masks = true;
    // (x - y)^2 counts only where both are present, so the squares, too, must meet the other row's mask.
    numeric(ImagePart::square_high, ImagePart::present);
    numeric(ImagePart::square_low, ImagePart::present);
    numeric(ImagePart::present, ImagePart::square_high);
    numeric(ImagePart::present, ImagePart::square_low);
    constexpr double kHalfOfASubnormal = 0x1p-25;
    result_.product_error += 4.0 * kHalfOfASubnormal;
    if (skips_) return;
    const double weight = mismatch(number.source);  // a mismatch, unless both are present
    result_.constant += weight;
    result_.nominal += weight;
    set_factors(numeric(ImagePart::present, ImagePart::present), 0.5 * weight);
  }

  std::int64_t columns_with(std::int64_t most_buckets) const {
    auto n = static_cast<std::int64_t>(result_.columns.size());
    for (const std::int64_t source : map_.equality()) {
      n += std::min(static_cast<std::int64_t>(attribute(source).n_values), most_buckets) + 1;
    }
    return n;
  }
  std::int64_t choose_buckets() const {
    for (const std::int64_t most : kMostBuckets) {
      if (columns_with(most) <= kColumnsWanted) return most;
    }
    return kMostBuckets.back();
  }

  void add_nominal(std::int64_t source, std::int64_t most_buckets) {
    const double weight = mismatch(source);
    const auto n_values = attribute(source).nominal ? static_cast<std::int64_t>(attribute(source).n_values) : 0;
    result_.nominal += weight;
    if (n_values == 0) {  // a number compared for equality gets no columns, so every pair may be a mismatch or none
      result_.hashed += weight;
      return;
    }
    const std::int64_t n_buckets = std::min(n_values, most_buckets);
    if (n_buckets < n_values) result_.hashed += weight;
    for (std::int64_t value = 0; value < n_buckets; ++value) {
      ImageColumn& column = add(source, ImagePart::value, ImagePart::value);
      column.value = static_cast<std::int32_t>(value);
      column.n_buckets = static_cast<std::int32_t>(n_buckets);
      // A missing value has no column, so it mismatches every value.
      if (!skips_) column.masked = 1;
      const double error_before = result_.product_error;
      set_factors(column, 0.5 * weight);
      if (value > 0) result_.product_error = error_before;  // only one of these columns counts in a pair
    }
    if (masked(source) && skips_) {
      result_.masks = true;
      set_factors(add(source, ImagePart::present, ImagePart::present), -0.5 * weight);
    } else {
      result_.constant += weight;
    }
  }

  void choose_width() {
    constexpr std::int64_t kPanel = 64, kExtra = 3;
    const auto n = static_cast<std::int64_t>(result_.columns.size());
    const auto width_of = [](std::int64_t n_columns) -> std::int64_t {
      if (n_columns <= 32) return 32;
      if (n_columns > 64 && n_columns <= 96) return 96;
      return checked::mul(checked::ceil_div(n_columns, kPanel), kPanel);
    };
    // The start of a score needs three more columns, unless that would cost a panel.
    const bool room = width_of(n + kExtra) == width_of(n) || width_of(n) > 2 * kPanel;
    result_.width = width_of(room ? n + kExtra : n);
    if (!room) return;
    result_.start_column = n;
    const auto constant_one = [](ImagePart query, ImagePart train) {
      ImageColumn column{};
      column.query = query;
      column.train = train;
      column.query_factor = column.train_factor = 1.0F;
      return column;
    };
    result_.columns.push_back(constant_one(ImagePart::constant, ImagePart::zero));  // meets the start's high part
    result_.columns.push_back(constant_one(ImagePart::constant, ImagePart::zero));  // meets its low part
    result_.columns.push_back(constant_one(ImagePart::zero, ImagePart::constant));  // meets the shift
    result_.product_error += 0x1p-24;                                               // a start below the smallest half
  }

  const ImageMap& map_;
  const std::vector<Attribute>& attributes_;
  const bool gaps_, skips_;
  double rescale_ = 1.0;
  ImageColumns result_;
};

}  // namespace

ImageColumns make_image_columns(const ImageMap& map, const std::vector<Attribute>& attributes, bool gaps) {
  return Builder(map, attributes, gaps).build();
}

}  // namespace stope::knn
