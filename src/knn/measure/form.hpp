// What a filter computes for a measure: the shape of its sum, and how a distance limits that sum. A measure names its
// form next to its formula (`static constexpr FilterForm kFilter`); one that names none is searched without a filter. A
// form does not compile if no scan computes it or no bound is argued for it (typed_kernel.hpp).
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::knn {

/// The term that an attribute adds. A nominal attribute (or one compared for equality) adds a mismatch.
enum class Term {
  square,    ///< (x-y)^2; the sum's root is a norm
  absolute,  ///< |x-y|; the sum is a norm
  maximum,   ///< max |x-y|; a norm
  relative,  ///< |x-y| / (|x|+|y|): no norm, but insensitive to relative rounding
  product    ///< x*y, for similarities: only the CPU's filter bounds them
};

/// Whether residuals are measured in the norm of squares.
STOPE_HD constexpr bool in_squares(Term term) {
  return term == Term::square || term == Term::product;
}

/// What the sum is divided by.
enum class Divisor { none, present_weight, total };

/// The effect of an attribute that is missing in either row.
enum class Missing {
  skip,       ///< adds nothing
  mismatch,   ///< counts as different
  undefined,  ///< the filter's bound does not hold: such rows are always listed
};

/// Which numbers are compared.
enum class Space {
  attributes,  ///< unchanged, but scaled by the weights
  ranges,      ///< divided by the attribute's range over the training table
  equality,    ///< only whether they are equal
  unit_rows,   ///< rows scaled to length 1
  sphere       ///< latitude and longitude as a point of the unit sphere
};

/// How the distance follows from the sum (or quotient) s.
enum class Finish {
  identity,     ///< s
  root,         ///< sqrt(s)
  mean_root,    ///< sqrt(total weight * s), s the quotient by the weight compared
  half,         ///< s / 2: 1 - cos of two unit rows
  chord_angle,  ///< 2 asin(sqrt(s) / 2): the angle between two unit vectors
  negated       ///< -s, for similarities
};

struct FilterForm {
  Term term = Term::square;
  Divisor divisor = Divisor::none;
  Missing missing = Missing::skip;
  Space space = Space::attributes;
  Finish finish = Finish::root;
};

/// The sum of a pair of rows whose attributes are all numeric and weigh 1. No value is missing, and those of the query
/// are finite. A formula with a PlainForm (kPlain) then does just these operations, column by column, so that
/// engine/pairs/ finds the same bits. All of them keep every bit when x and y change places.
enum class PairSum {
  squares,    ///< (x-y) * (x-y)
  absolutes,  ///< |x-y|
  maximum,    ///< the largest |x-y|, no sum
  relative    ///< |x-y| / (|x|+|y|), or 0 where the denominator is 0
};

/// The distance is the sum, or its root; the similarity is the negated distance.
struct PlainForm {
  PairSum sum = PairSum::squares;
  bool root = false;
};

/// The sums that the scans are compiled for, on the CPU (filter/scan/kernels.inl) and on the GPU
/// (cuda/differences/float_scan.cuh). Both switch over all of them, so that no form gets the kernel of another one.
enum class ScanSum {
  none,                 ///< no scan computes the form
  squares,              ///< a missing value adds nothing, here and below
  squares_and_missing,  ///< a missing value adds a mismatch
  mean_squares,         ///< divided by the weight that both rows have
  absolutes,
  mean_absolutes,      ///< divided by the weight that both rows have
  absolutes_of_total,  ///< divided by the sum of |x| + |y|
  maximum,
  relative,
  products
};

/// Returns the sum that a scan computes for the form. Missing::undefined needs no sum of its own: rows that lack a
/// value are always listed.
constexpr ScanSum scan_sum(const FilterForm& form) {
  const bool counts_missing = form.missing == Missing::mismatch;
  if (form.term == Term::square && form.divisor == Divisor::none) {
    return counts_missing ? ScanSum::squares_and_missing : ScanSum::squares;
  }
  if (counts_missing) return ScanSum::none;
  switch (form.term) {
    case Term::square: return form.divisor == Divisor::present_weight ? ScanSum::mean_squares : ScanSum::none;
    case Term::absolute:
      switch (form.divisor) {
        case Divisor::none: return ScanSum::absolutes;
        case Divisor::present_weight: return ScanSum::mean_absolutes;
        case Divisor::total: return ScanSum::absolutes_of_total;
      }
      break;
    case Term::maximum: return form.divisor == Divisor::none ? ScanSum::maximum : ScanSum::none;
    case Term::relative: return form.divisor == Divisor::none ? ScanSum::relative : ScanSum::none;
    case Term::product:
      return form.divisor == Divisor::none && form.missing == Missing::undefined ? ScanSum::products : ScanSum::none;
  }
  return ScanSum::none;
}

constexpr bool has_scan(const FilterForm& form) {
  return scan_sum(form) != ScanSum::none;
}

/// Whether the tensor filter's scores follow the form: plain sums of squares over attributes that are unscaled, divided
/// by their ranges, or in rows of length 1.
constexpr bool has_tensor_scan(const FilterForm& form) {
  return form.term == Term::square && form.divisor == Divisor::none && form.space != Space::equality &&
         form.space != Space::sphere;
}

/// Whether SumBounds (filter/sum_bounds.hpp) knows what a distance proves about the form's sum.
/// docs/numerics/filter.md, "From a distance to a sum", argues every case.
constexpr bool has_bound(const FilterForm& form) {
  const bool squares = form.term == Term::square && form.divisor == Divisor::none;
  const bool per_attribute = form.space != Space::unit_rows && form.space != Space::sphere;
  switch (form.finish) {
    case Finish::root: return squares && per_attribute;
    case Finish::half: return squares && form.space == Space::unit_rows;
    case Finish::chord_angle: return squares && !per_attribute;
    case Finish::mean_root:
      return form.term == Term::square && form.divisor == Divisor::present_weight && per_attribute;
    case Finish::negated: return scan_sum(form) == ScanSum::products && form.space == Space::attributes;
    case Finish::identity: break;
  }
  if (form.term == Term::product) return false;
  if (form.term == Term::relative || form.divisor == Divisor::total) return form.space == Space::attributes;
  return per_attribute && (form.term != Term::square || form.divisor == Divisor::none);
}

/// Whether the sum between a row and a box is never more than that between the row and a row in the box. A box bounds
/// differences, not shares, and no divisor that can be arbitrarily small.
STOPE_HD constexpr bool boxes_bound(const FilterForm& form) {
  return form.divisor != Divisor::total && form.term != Term::relative && form.term != Term::product;
}

/// Whether GPUs have filters for the form.
constexpr bool has_gpu_filter(const FilterForm& form) {
  return form.term != Term::product;
}

/// Whether GPUs search through boxes (cuda/boxes/) by the form. Boxes around what is only equal or not exclude little.
constexpr bool has_box_search(const FilterForm& form) {
  return boxes_bound(form) && form.space != Space::equality;
}

}  // namespace stope::knn
