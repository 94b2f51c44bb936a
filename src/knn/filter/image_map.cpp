#include "knn/filter/image_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "base/exact_math.hpp"

namespace stope::knn {
namespace {

// Number of rows that choose centres and scales. Any rows give a correct result; these fit most tables.
constexpr std::int64_t kScaleSample = 1024;

}  // namespace

ImageMap::ImageMap(const Fitted& fitted, const FilterForm& form) : form_(form), attributes_(fitted.attributes()) {
  choose_columns(fitted);
  choose_scales(fitted);
  // Products are bounded by those of unit vectors with rows.
  constexpr FilterForm kUnitRows = {.missing = Missing::undefined, .space = Space::unit_rows, .finish = Finish::half};
  if (form.term == Term::product) query_map_ = std::make_shared<const ImageMap>(fitted, kUnitRows);
}

void ImageMap::choose_columns(const Fitted& fitted) {
  least_weight_ = std::numeric_limits<double>::infinity();
  for (std::int64_t a = 0; a < fitted.width(); ++a) {
    const Attribute& attribute = attributes_[static_cast<std::size_t>(a)];
    total_weight_ += attribute.weight;
    least_weight_ = std::min(least_weight_, attribute.weight);
    const bool compared =
        attribute.nominal || form_.space == Space::equality || (form_.space == Space::ranges && attribute.range == 0.0);
    if (compared) {
      equality_.push_back(a);
    } else if (form_.space != Space::sphere) {
      numeric_.push_back({a, 0.0, 1.0});
    }
  }
  if (form_.space == Space::sphere) numeric_ = {{0, 0.0, 1.0}, {1, 0.0, 1.0}, {2, 0.0, 1.0}};
}

// Returns what one unit of difference adds: an attribute's weight in the norm. Squares take the root of the weight.
namespace {

double weight_factor(const FilterForm& form, const Attribute& attribute) {
  if (form.term == Term::relative) return 1.0;  // |x-y| / (|x|+|y|) ignores a factor: the weight joins the sum
  const double weight = in_squares(form.term) ? std::sqrt(attribute.weight) : attribute.weight;
  return form.space == Space::ranges ? weight / attribute.range : weight;
}

// A sample of the training rows, from which centres and scales are chosen.
class ScaleSample {
 public:
  explicit ScaleSample(const Fitted& fitted) : rows_(fitted.sample(kScaleSample)), width_(fitted.width()) {}

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()) / width_; }
  const std::vector<double>& rows() const { return rows_; }
  double at(std::int64_t row, std::int64_t source) const {
    return rows_[static_cast<std::size_t>(row * width_ + source)];
  }

  // Only values that cannot overflow the sum count; any centre is correct.
  double mean(std::int64_t source) const {
    double sum = 0.0, count = 0.0;
    for (std::int64_t r = 0; r < size(); ++r) {
      if (std::fabs(at(r, source)) < kMost) sum += at(r, source), count += 1.0;
    }
    return count > 0.0 && std::isfinite(sum) ? sum / count : 0.0;
  }
  double median(std::int64_t source) const {
    std::vector<double> values;
    for (std::int64_t r = 0; r < size(); ++r) {
      if (std::fabs(at(r, source)) < kMost) values.push_back(at(r, source));
    }
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  // Returns the largest scaled number of each row, sorted.
  std::vector<double> sizes(const std::vector<NumericColumn>& columns) const {
    std::vector<double> sizes;
    for (std::int64_t r = 0; r < size(); ++r) {
      double largest = 0.0;
      for (const NumericColumn& column : columns) {
        const double value = std::fabs((at(r, column.source) - column.centre) * column.scale);
        if (value > largest && value <= kMost) largest = value;
      }
      sizes.push_back(largest);
    }
    std::sort(sizes.begin(), sizes.end());
    return sizes;
  }

 private:
  static constexpr double kMost = 1e300;
  std::vector<double> rows_;
  std::int64_t width_;
};

// Returns the size of all but one row in 64.
double usual_of(const std::vector<double>& sizes) {
  return sizes.empty() ? 0.0 : sizes[sizes.size() - 1 - sizes.size() / 64];
}

}  // namespace

// The centre is subtracted for precision only (rows offset by 1e6); forms that use |x| itself have none. A common power
// of two brings the largest value near 1, so that neither squares nor residuals leave the range of a float. Where a few
// rows are far out, the usual size is brought there instead, and medians are the centres. Otherwise images in half
// precision would have no digits left for the other rows.
void ImageMap::choose_scales(const Fitted& fitted) {
  constexpr double kFarOut = 64.0;
  const bool centred =
      form_.term != Term::relative && form_.divisor != Divisor::total && form_.space != Space::unit_rows;
  // A subnormal scale has lost the digits that residuals rely on.
  const auto check_scale = [&](double scale) { scales_are_normal_ &= scale >= 1e-290 && scale <= 1e290; };
  const ScaleSample sample(fitted);
  if (form_.term == Term::square && form_.space == Space::attributes && form_.divisor == Divisor::none) {
    byte_grid_ = find_byte_grid(sample.rows(), attributes_);
  }
  double largest = 0.0;
  if (form_.space != Space::sphere) {
    for (NumericColumn& column : numeric_) {
      column.centre = centred ? sample.mean(column.source) : 0.0;
      column.scale = weight_factor(form_, attributes_[static_cast<std::size_t>(column.source)]);
    }
    if (form_.space == Space::attributes || form_.space == Space::ranges) {
      std::vector<double> sizes = sample.sizes(numeric_);
      if (!sizes.empty()) largest = sizes.back();
      if (usual_of(sizes) > 0.0 && largest > kFarOut * usual_of(sizes)) {
        for (NumericColumn& column : numeric_) column.centre = centred ? sample.median(column.source) : 0.0;
        sizes = sample.sizes(numeric_);
        if (usual_of(sizes) > 0.0) largest = usual_of(sizes);
      }
    }
  }
  if (largest > 0.0) {
    unit_ = std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000));
    for (NumericColumn& column : numeric_) {
      check_scale(column.scale);
      column.scale *= unit_;
    }
  }
  for (const NumericColumn& column : numeric_) check_scale(column.scale);
  const auto round_down = [](double value) {
    const auto rounded = static_cast<float>(std::min(value, 1e30));
    return static_cast<double>(rounded) > value ? std::nextafter(rounded, 0.0F) : rounded;
  };
  const double mismatch_unit = form_.term == Term::square ? unit_ * unit_ : unit_;
  const auto add = [&](std::int64_t source) {
    const double weight = form_.space == Space::sphere ? 1.0 : attributes_[static_cast<std::size_t>(source)].weight;
    mismatch_.push_back(round_down(weight * mismatch_unit));
    // The terms of relative sums have no unit, so the sums take none. The divisor's weights stay as they are.
    weight_.push_back(static_cast<float>(std::min(weight, 1e30)));
  };
  for (const NumericColumn& column : numeric_) add(column.source);
  for (const std::int64_t source : equality_) add(source);
}

bool ImageMap::bounds() const {
  constexpr std::int64_t kMostColumns = 1 << 20;  // gamma in cut() must stay near 1
  return n_columns() <= kMostColumns && total_weight_ < 1e30 && least_weight_ > 1e-30 && scales_are_normal_ &&
         (query_map_ == nullptr || query_map_->bounds());
}

bool ImageMap::lacks_values() const {
  return form_.missing != Missing::undefined &&
         std::any_of(attributes_.begin(), attributes_.end(), [](const Attribute& a) { return a.missing; });
}

double ImageMap::map(const double* row, float* image) const {
  const double residual = put_image(row_form(), row, [&](std::int64_t c, float value) { image[c] = value; });
  if (is_missing(residual)) std::fill(image, image + n_columns(), std::numeric_limits<float>::quiet_NaN());
  return residual;
}

Cut ImageMap::cut(double distance, double residual) const {
  Cut cut = kDropNothing;
  if (!(distance < std::numeric_limits<double>::infinity()) || is_missing(residual)) return cut;
  const SumBounds bounds = sum_bounds();
  const double gamma = bounds.gamma();
  const Limit limit = bounds.float_limit(distance, residual);
  cut.beta = cut.score = round_up(limit.beta);
  cut.box = bounds.box_cut(limit);
  if (form_.divisor == Divisor::present_weight) {
    cut.alpha = round_up(limit.alpha);
    cut.score = round_up((limit.alpha + limit.beta / least_weight_) * gamma);
  } else if (form_.divisor == Divisor::total) {
    // The divisor can be arbitrarily small, so the score alone decides nothing.
    cut.alpha = round_up(limit.alpha);
    cut.score = kDropNothing.score;
  }
  return cut;
}

}  // namespace stope::knn
