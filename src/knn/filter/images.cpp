#include "knn/filter/images.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "knn/exact_math.hpp"

namespace stope::knn {
namespace {

// Relative rounding of everything done in double on the way to an image: a subtraction, a multiplication by a scale
// that is itself a root or a quotient, a row's norm. 2^-50 is 8 units of rounding.
constexpr double kDoubleRounding = 0x1p-50;

// Rows that choose centres and scales: any are correct, these fit most tables.
constexpr std::int64_t kScaleSample = 1024;

// One float for a value that is only compared for equality. Different floats come from different values; that two
// values share one only lowers the bound.
float equality_image(double value, bool nominal) {
  if (is_missing(value)) return std::numeric_limits<float>::quiet_NaN();
  if (nominal) return static_cast<float>(value);
  std::uint64_t bits = std::bit_cast<std::uint64_t>(value + 0.0);  // -0 equals 0
  bits ^= bits >> 32;
  bits *= 0x9e3779b97f4a7c15;
  return static_cast<float>(bits >> 40);  // 24 bits: exact
}

}  // namespace

ImageMap::ImageMap(const Fitted& fitted, const FilterForm& form) : form_(form), attributes_(fitted.attributes()) {
  choose_columns(fitted);
  choose_scales(fitted);
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

// What one unit of difference adds: the norm's weight of an attribute. Squares take the root of the weight.
namespace {

double weight_factor(const FilterForm& form, const Attribute& attribute) {
  if (form.term == Term::relative) return 1.0;  // |x-y| / (|x|+|y|) does not see a factor: the weight joins the sum
  const double weight = form.term == Term::square ? std::sqrt(attribute.weight) : attribute.weight;
  return form.space == Space::ranges ? weight / attribute.range : weight;
}

}  // namespace

// The centre is subtracted for precision only (rows offset by 1e6); forms that use |x| itself have none. The common
// power of two brings the largest value near 1, so that neither squares nor residuals leave the range of a float.
void ImageMap::choose_scales(const Fitted& fitted) {
  const bool centred =
      form_.term != Term::relative && form_.divisor != Divisor::total && form_.space != Space::unit_rows;
  // A subnormal scale has lost the digits that residuals count on.
  const auto check_scale = [&](double scale) { scales_are_normal_ &= scale >= 1e-290 && scale <= 1e290; };
  const std::int64_t width = fitted.width();
  const std::vector<double> sample = fitted.sample(kScaleSample);
  const auto n = static_cast<std::int64_t>(sample.size()) / width;
  double largest = 0.0;
  if (form_.space != Space::sphere) {
    for (NumericColumn& column : numeric_) {
      double sum = 0.0, count = 0.0;
      for (std::int64_t r = 0; centred && r < n; ++r) {
        const double value = sample[static_cast<std::size_t>(r * width + column.source)];
        // The mean only of values that cannot overflow it; any centre is correct.
        if (std::fabs(value) < 1e300) sum += value, count += 1.0;
      }
      column.centre = count > 0.0 && std::isfinite(sum) ? sum / count : 0.0;
      column.scale = weight_factor(form_, attributes_[static_cast<std::size_t>(column.source)]);
    }
    if (form_.space == Space::attributes || form_.space == Space::ranges) {
      for (std::int64_t r = 0; r < n; ++r) {
        for (const NumericColumn& column : numeric_) {
          const double value =
              std::fabs((sample[static_cast<std::size_t>(r * width + column.source)] - column.centre) * column.scale);
          if (value > largest && value <= 1e300) largest = value;
        }
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
    // Relative sums take no unit: their terms have none. The divisor's weights stay as they are.
    weight_.push_back(static_cast<float>(std::min(weight, 1e30)));
  };
  for (const NumericColumn& column : numeric_) add(column.source);
  for (const std::int64_t source : equality_) add(source);
}

bool ImageMap::bounds() const {
  constexpr std::int64_t kMostColumns = 1 << 20;  // gamma in cut() must stay near 1
  return n_columns() <= kMostColumns && total_weight_ < 1e30 && least_weight_ > 1e-30 && scales_are_normal_;
}

double ImageMap::add_residual(double residual, double value, float rounded) const {
  const double error = std::fabs(value - static_cast<double>(rounded)) + kDoubleRounding * std::fabs(value);
  switch (form_.term) {
    case Term::square: return residual + error * error;
    case Term::maximum: return std::max(residual, error);
    case Term::absolute: return residual + error;
    case Term::relative: break;
  }
  return residual;  // bounded by the relative rounding of each value instead, in limit()
}

double ImageMap::map_values(const double* row, float* image) const {
  double residual = 0.0;
  for (std::size_t c = 0; c < numeric_.size(); ++c) {
    const NumericColumn& column = numeric_[c];
    const double value = (row[column.source] - column.centre) * column.scale;
    image[c] = static_cast<float>(value);
    if (is_missing(row[column.source])) {
      if (form_.missing == Missing::undefined) return kNaN;
      continue;
    }
    // Beyond 1e30 a square would leave the range of a float; below 2^-100 a relative term would lose its precision.
    if (!(std::fabs(value) <= 1e30)) return kNaN;
    if (form_.term == Term::relative && value != 0.0 && std::fabs(value) < 0x1p-100) return kNaN;
    if (form_.term == Term::relative || form_.divisor == Divisor::total) {
      // |x| + |y| must neither overflow nor vanish in the reference, or its quotient is no quotient of these sums.
      const double size = std::fabs(row[column.source]);
      const double share = size * attributes_[static_cast<std::size_t>(column.source)].weight;
      if (!(size <= 1e290 && share <= 1e290) || (size != 0.0 && share < 1e-290)) return kNaN;
    }
    residual = add_residual(residual, value, image[c]);
  }
  return residual;
}

// x / |x|, the columns weighted; a row of zeros stays one (its distance from every row is at least the bound's).
double ImageMap::map_unit_row(const double* row, float* image) const {
  double largest = 0.0;
  for (const NumericColumn& column : numeric_) {
    if (is_missing(row[column.source])) return kNaN;
    largest = std::max(largest, std::fabs(row[column.source]));
  }
  // The reference sums squares as they are: where those can overflow or vanish, it does not compute a cosine.
  if (largest > 0.0 && !(largest < 1e100 && largest > 1e-100)) return kNaN;
  double squares = 0.0;
  for (const NumericColumn& column : numeric_) {
    const double value = row[column.source] * column.scale;
    squares += value * value;
  }
  if (squares > 0.0 && !(squares < 1e250 && squares > 1e-250)) return kNaN;
  const double factor = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
  // Relative rounding of the norm: one unit a column, at most.
  const double norm_error = static_cast<double>(numeric_.size()) * 0x1p-52;
  double residual = norm_error * norm_error;
  for (std::size_t c = 0; c < numeric_.size(); ++c) {
    const double value = row[numeric_[c].source] * numeric_[c].scale * factor;
    image[c] = static_cast<float>(value);
    residual = add_residual(residual, value, image[c]);
  }
  return residual;
}

double ImageMap::map_sphere(const double* row, float* image) const {
  // Far beyond a full turn the difference of two angles loses the digits that the formula's sines need.
  constexpr double kMaxLongitude = 10.0;
  // Beyond the poles cosines are negative, and the formula's two terms cancel instead of adding up.
  constexpr double kMaxLatitude = 0x1.921fb54442d18p0;
  if (!(std::fabs(row[0]) <= kMaxLatitude && std::fabs(row[1]) <= kMaxLongitude)) return kNaN;
  const double point[3] = {math::cos(row[0]) * math::cos(row[1]), math::cos(row[0]) * math::sin(row[1]),
                           math::sin(row[0])};
  double residual = 1e-28;  // (1e-14)^2: sines of rounded angles, here and in the formula
  for (int i = 0; i < 3; ++i) {
    image[i] = static_cast<float>(point[i]);
    residual = add_residual(residual, point[i], image[i]);
  }
  return residual;
}

double ImageMap::map(const double* row, float* image) const {
  double residual = 0.0;
  switch (form_.space) {
    case Space::unit_rows: residual = map_unit_row(row, image); break;
    case Space::sphere: residual = map_sphere(row, image); break;
    default: residual = map_values(row, image); break;
  }
  std::size_t c = numeric_.size();
  for (const std::int64_t source : equality_) {
    image[c++] = equality_image(row[source], attributes_[static_cast<std::size_t>(source)].nominal);
  }
  if (is_missing(residual)) {
    std::fill(image, image + n_columns(), std::numeric_limits<float>::quiet_NaN());
    return kNaN;
  }
  if (form_.term == Term::square) residual = std::sqrt(residual);
  return residual * (1.0 + 1e-6);
}

float round_up(double value) {
  const auto rounded = static_cast<float>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, kNoLimit) : rounded;
}

ImageMap::Limit ImageMap::limit(double distance, double residual) const {
  const auto columns = static_cast<double>(n_columns());
  // The reference's own rounding, in double. What underflows in it, a square or a weighted term, is below 1e-120 even
  // after the largest quotient of weights.
  const double bound = std::max(distance, 0.0) * (1.0 + (columns + 16.0) * 0x1p-51) + 1e-120;
  const auto squared = [&](double reach) { return Limit{0.0, reach * reach}; };
  switch (form_.finish) {
    case Finish::root: return squared(bound * unit_ + residual);
    case Finish::half:
      // 1 - cos is off by a rounding a column, absolutely.
      return squared(std::sqrt(2.0 * bound + (columns + 16.0) * 0x1p-50) + residual);
    case Finish::chord_angle: {
      const double sine = std::sin(std::min(0.5 * bound, 1.5707963267948966));
      const double slack = form_.space == Space::sphere ? 0.0 : (columns + 16.0) * 0x1p-50;
      return squared(std::sqrt(4.0 * sine * sine * (1.0 + 1e-12) + slack) + residual);
    }
    case Finish::mean_root: {
      // The sum reaches (a + r)^2, a^2 = weight * bound^2 / total; (a + r)^2 <= (1 + e) a^2 + (1 + 1/e) r^2, any e > 0.
      const double share = bound * unit_ / std::sqrt(total_weight_);
      if (residual == 0.0) return {share * share, 0.0};
      const double e = residual / (share * std::sqrt(least_weight_) + residual);
      return {(1.0 + e) * share * share, (1.0 + 1.0 / e) * residual * residual};
    }
    case Finish::identity: break;
  }
  if (form_.term == Term::square) return squared(std::sqrt(bound) * unit_ + residual);
  // Rounding x and y to float moves |x-y| / (|x|+|y|) by less than four units of rounding.
  if (form_.term == Term::relative) return {0.0, bound + 8.0 * 0x1p-24 * total_weight_};
  if (form_.divisor == Divisor::present_weight) return {bound * unit_, residual};
  if (form_.divisor == Divisor::total) return {bound, (1.0 + bound) * residual};
  return {0.0, bound * unit_ + residual};
}

Cut ImageMap::cut(double distance, double residual) const {
  Cut cut = kDropNothing;
  if (!(distance < std::numeric_limits<double>::infinity()) || is_missing(residual)) return cut;
  const auto columns = static_cast<double>(n_columns());
  // A float sum of `columns` non-negative terms, each of a few roundings, is off by less than a share gamma; what
  // underflows in it by less than tiny.
  const double gamma = 1.0 + (columns + 8.0) * 0x1p-23;
  const double tiny = (columns + 1.0) * 1e-37;
  Limit limit = this->limit(distance, residual);
  limit.alpha *= gamma * gamma;
  limit.beta = limit.beta * gamma * gamma + tiny;
  cut.beta = cut.score = cut.box = round_up(limit.beta);
  if (form_.divisor == Divisor::present_weight) {
    cut.alpha = round_up(limit.alpha);
    cut.score = round_up((limit.alpha + limit.beta / least_weight_) * gamma);
    cut.box = round_up((limit.alpha * total_weight_ + limit.beta) * gamma);
  } else if (form_.divisor == Divisor::total) {
    // The divisor can be as small as it likes, so the score alone decides nothing, nor does a box.
    cut.alpha = round_up(limit.alpha);
    cut.score = cut.box = kDropNothing.box;
  } else if (form_.term == Term::relative) {
    cut.box = kDropNothing.box;  // a box bounds differences, not shares
  }
  return cut;
}

}  // namespace stope::knn
