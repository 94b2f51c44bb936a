// The image of a row (image_map.hpp), for host and device: one float per column, and how far rounding moved the row.
#pragma once

#include <cstdint>

#include "base/exact_math.hpp"
#include "knn/measure/form.hpp"
#include "knn/measure/measure.hpp"

namespace stope::knn {

/// An image value is (row[source] - centre) * scale, unless the form scales whole rows.
struct NumericColumn {
  std::int64_t source;
  double centre;
  double scale;
};

/// How a row becomes an image: first the numeric columns, then the values that are compared for equality.
struct RowForm {
  FilterForm form;
  const NumericColumn* numeric;
  std::int64_t n_numeric;
  const std::int64_t* equality;  ///< sources
  std::int64_t n_equality;
  const Attribute* attributes;  ///< per source
};

// Relative rounding of everything computed in double on the way to an image: a subtraction, a row's norm, and a
// multiplication by a scale that is itself a root or a quotient. 2^-50 is 8 units of rounding.
inline constexpr double kImageRounding = 0x1p-50;

/// Adds to the residual of the row, in the form's own norm, what a number's image lost.
STOPE_HD inline double add_residual(const FilterForm& form, double residual, double value, double rounded) {
  const double error = absolute(value - rounded) + kImageRounding * absolute(value);
  switch (form.term) {
    case Term::square:
    case Term::product: return residual + error * error;
    case Term::maximum: return larger(residual, error);
    case Term::absolute: return residual + error;
    case Term::relative: break;
  }
  return residual;  // SumBounds uses the relative rounding of each value instead
}

/// Returns 24 bits of a value that is only compared for equality, or the code of a nominal one. Different images come
/// from different values. Where two values share an image, the bound is only lower.
STOPE_HD inline float equality_image(double value, bool nominal) {
  if (is_missing(value)) return __builtin_nanf("");
  if (nominal) return static_cast<float>(value);
  std::uint64_t bits = __builtin_bit_cast(std::uint64_t, value + 0.0);  // -0 equals 0
  bits ^= bits >> 32;
  bits *= 0x9e3779b97f4a7c15;
  return static_cast<float>(bits >> 40);  // 24 bits: exact
}

/// Whether an image bounds a present number. It does not beyond 1e30, where a square would leave the range of a float,
/// nor where the form's terms could overflow or vanish in the reference.
STOPE_HD inline bool bounds_number(const RowForm& row_form, const NumericColumn& column, double number, double value) {
  if (!(absolute(value) <= 1e30)) return false;
  const FilterForm& form = row_form.form;
  // Below 2^-100 a relative term would lose its precision.
  if (form.term == Term::relative && value != 0.0 && absolute(value) < 0x1p-100) return false;
  if (form.term == Term::relative || form.divisor == Divisor::total) {
    // If |x| + |y| overflowed or vanished in the reference, its quotient would not be the quotient of these sums.
    const double size = absolute(number);
    const double share = size * row_form.attributes[column.source].weight;
    if (!(size <= 1e290 && share <= 1e290) || (size != 0.0 && share < 1e-290)) return false;
  }
  return true;
}

namespace row_image {

template <class Put>
STOPE_HD double put_numbers(const RowForm& row_form, const double* row, const Put& put) {
  double residual = 0.0;
  for (std::int64_t c = 0; c < row_form.n_numeric; ++c) {
    const NumericColumn& column = row_form.numeric[c];
    const double value = (row[column.source] - column.centre) * column.scale;
    const auto image = static_cast<float>(value);
    put(c, image);
    if (is_missing(row[column.source])) {
      if (row_form.form.missing == Missing::undefined) return kNaN;
      continue;
    }
    if (!bounds_number(row_form, column, row[column.source], value)) return kNaN;
    residual = add_residual(row_form.form, residual, value, static_cast<double>(image));
  }
  return residual;
}

// Puts x / |x|, with weighted columns. A row of zeros stays one: its distance from every row is at least the bound's.
template <class Put>
STOPE_HD double put_unit_row(const RowForm& row_form, const double* row, const Put& put) {
  double largest = 0.0;
  for (std::int64_t c = 0; c < row_form.n_numeric; ++c) {
    const double number = row[row_form.numeric[c].source];
    if (is_missing(number)) return kNaN;
    largest = larger(largest, absolute(number));
  }
  // The reference sums squares without scaling. Where those can overflow or vanish, it does not compute a cosine.
  if (largest > 0.0 && !(largest < 1e100 && largest > 1e-100)) return kNaN;
  double squares = 0.0;
  for (std::int64_t c = 0; c < row_form.n_numeric; ++c) {
    const double value = row[row_form.numeric[c].source] * row_form.numeric[c].scale;
    squares += value * value;
  }
  if (squares > 0.0 && !(squares < 1e250 && squares > 1e-250)) return kNaN;
  const double factor = squares > 0.0 ? 1.0 / square_root(squares) : 0.0;
  // Relative rounding of the norm: at most one unit per column.
  const double norm_error = static_cast<double>(row_form.n_numeric) * 0x1p-52;
  double residual = norm_error * norm_error;
  for (std::int64_t c = 0; c < row_form.n_numeric; ++c) {
    const double value = row[row_form.numeric[c].source] * row_form.numeric[c].scale * factor;
    const auto image = static_cast<float>(value);
    put(c, image);
    residual = add_residual(row_form.form, residual, value, static_cast<double>(image));
  }
  return residual;
}

template <class Put>
STOPE_HD double put_sphere(const RowForm& row_form, const double* row, const Put& put) {
  // Far beyond a full turn the difference of two angles loses the digits that the formula's sines need.
  constexpr double kMaxLongitude = 10.0;
  // Beyond the poles cosines are negative, and the formula's two terms cancel instead of adding up.
  constexpr double kMaxLatitude = 0x1.921fb54442d18p0;
  if (!(absolute(row[0]) <= kMaxLatitude && absolute(row[1]) <= kMaxLongitude)) return kNaN;
  const double point[3] = {math::cos(row[0]) * math::cos(row[1]), math::cos(row[0]) * math::sin(row[1]),
                           math::sin(row[0])};
  double residual = 1e-28;  // (1e-14)^2: sines of rounded angles, here and in the formula
  for (std::int64_t c = 0; c < 3; ++c) {
    const auto image = static_cast<float>(point[c]);
    put(c, image);
    residual = add_residual(row_form.form, residual, point[c], static_cast<double>(image));
  }
  return residual;
}

}  // namespace row_image

/// Calls put(column, image) for the attributes that are only compared for equality.
template <class Put>
STOPE_HD void put_equality(const RowForm& row_form, const double* row, const Put& put) {
  for (std::int64_t e = 0; e < row_form.n_equality; ++e) {
    const std::int64_t source = row_form.equality[e];
    put(row_form.n_numeric + e, equality_image(row[source], row_form.attributes[source].nominal));
  }
}

/// Returns the residual of a row from what its columns added (add_residual), widened for the rounding of that sum.
STOPE_HD inline double finished_residual(const FilterForm& form, double residual) {
  return (in_squares(form.term) ? square_root(residual) : residual) * (1.0 + 1e-6);
}

/// Calls put(column, image) for every column of a row, and returns the residual. It is NaN for a row that no image can
/// bound; some of its columns may then be left out.
template <class Put>
STOPE_HD double put_image(const RowForm& row_form, const double* row, const Put& put) {
  double residual = 0.0;
  switch (row_form.form.space) {
    case Space::unit_rows: residual = row_image::put_unit_row(row_form, row, put); break;
    case Space::sphere: residual = row_image::put_sphere(row_form, row, put); break;
    default: residual = row_image::put_numbers(row_form, row, put); break;
  }
  if (is_missing(residual)) return kNaN;
  put_equality(row_form, row, put);
  return finished_residual(row_form.form, residual);
}

}  // namespace stope::knn
