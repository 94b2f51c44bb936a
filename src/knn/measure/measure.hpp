// Defines what a measure is: the formula of one distance, written once for host and device.
//
// A measure is a small struct in formulas/, in one of two forms:
//   accumulating: `State`, `add(State&, x, y, attribute)` for every attribute in column order, `finish(State)`;
//   whole-row:    `operator()(const RowPair&)`, for formulas that need two passes or a matrix.
// x is always the TRAINING row and y the QUERY (it matters for the divergences). Values are doubles, NaN = missing,
// nominal values are their codes. Formulas are plain multiplies and adds: compile with -ffp-contract=off (host) and
// -fmad=false (device), so that RapidMiner, NumPy, every back end and every tile size agree to the bit (promise 1).
// A measure reads only its own members and its arguments, so that a plain copy of it works on a device.
#pragma once

#include <cstdint>

#include "base/host_device.hpp"

namespace stope::knn {

/// One attribute as the formulas see it.
struct Attribute {
  double weight = 1.0;    ///< > 0 (attributes of weight 0 are dropped when the table is encoded)
  double range = 0.0;     ///< max - min over the training table, missing values skipped; 0 for a nominal attribute
  double n_values = 0.0;  ///< size of a nominal attribute's mapping
  bool nominal = false;
  bool missing = false;    ///< whether any training row lacks it
  bool binominal = false;  ///< RapidMiner's type: index 0 means "false" to the nominal similarities
};

/// Two encoded rows. `scratch` has the measure's scratch_doubles(n) entries.
struct RowPair {
  const double* x;
  const double* y;
  const Attribute* attributes;
  std::int64_t n;
  double* scratch;
};

STOPE_HD inline bool is_missing(double v) {
  return v != v;
}
STOPE_HD inline bool either_missing(double x, double y) {
  return is_missing(x) || is_missing(y);
}
STOPE_HD inline double absolute(double v) {
  return __builtin_fabs(v);
}
STOPE_HD inline double square_root(double v) {
  return __builtin_sqrt(v);
}
STOPE_HD inline double smaller(double a, double b) {
  return b < a ? b : a;
}
STOPE_HD inline double larger(double a, double b) {
  return a < b ? b : a;
}
inline constexpr double kNaN = __builtin_nan("");
inline constexpr double kInfinity = __builtin_inf();

/// A sum over the attributes present in both rows, and how many there were.
struct PresentSum {
  double sum = 0.0;
  double compared = 0.0;  ///< a count, kept as a double for the final division of some measures

  /// Adding +0.0 for a skipped attribute does not change the sum's bits: the sum starts at +0.0 and is never -0.0.
  STOPE_HD void add(bool present, double term) {
    sum += present ? term : 0.0;
    compared += present ? 1.0 : 0.0;
  }
  /// The sum, or NaN if no attribute was present in both rows.
  STOPE_HD double or_nan() const { return compared > 0.0 ? sum : kNaN; }
};

}  // namespace stope::knn
