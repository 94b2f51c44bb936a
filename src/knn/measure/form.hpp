// What a filter computes for a measure: the shape of its sum, and how a distance limits that sum. A measure names its
// form next to its formula (`static constexpr FilterForm kFilter`); one that names none is searched without a filter.
#pragma once

#include <cstdint>

namespace stope::knn {

/// The term an attribute adds; nominal attributes (and those the measure compares for equality) add a mismatch.
enum class Term {
  square,    ///< (x-y)^2; the sum's root is a norm
  absolute,  ///< |x-y|; the sum is a norm
  maximum,   ///< max |x-y|; a norm
  relative   ///< |x-y| / (|x|+|y|): no norm, but insensitive to relative rounding
};

/// What the sum is divided by.
enum class Divisor { none, present_weight, total };

/// What an attribute missing in either row does.
enum class Missing {
  skip,       ///< adds nothing
  mismatch,   ///< counts as different
  undefined,  ///< the filter's bound does not hold: such rows are always listed
};

/// Which numbers are compared.
enum class Space {
  attributes,  ///< as they stand, scaled by the weights
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
};

struct FilterForm {
  Term term = Term::square;
  Divisor divisor = Divisor::none;
  Missing missing = Missing::skip;
  Space space = Space::attributes;
  Finish finish = Finish::root;
};

}  // namespace stope::knn
