// A fitted measure behind one virtual call per tile. Every searcher calls it, whatever the measure.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "knn/measure/form.hpp"
#include "knn/measure/result.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// Which row is the first argument of the measure: the training row (search) or the query row (pairwise).
enum class PairOrder { train_first, query_first };

/// A tile of encoded rows. `queries` and `train` are row-major, n_features wide; out[i * ld + j] belongs to query i and
/// training row j.
struct Tile {
  const double* train;
  std::int64_t n_train;
  const double* queries;
  std::int64_t n_queries;
  double* out;
  std::int64_t ld;
};

/// A fitted measure as it can be copied to a device.
struct MeasureBytes {
  const char* type;  ///< typeid(M).name(), where M is the struct in formulas/
  const void* bytes;
  std::int64_t n_bytes;
  const double* storage;  ///< points to what its members refer to
  std::int64_t n_storage;
};

class MeasureKernel {
 public:
  virtual ~MeasureKernel() = default;
  /// Evaluates the reference formula for every pair of the tile. Thread-safe.
  virtual void evaluate(const Tile& tile, Quantity quantity, PairOrder order) const = 0;
  /// Writes out[i] = distance of the query from row rows[i] of `train` (row-major), the training row first.
  /// Thread-safe.
  virtual void evaluate_rows(const double* train, const std::int64_t* rows, std::int64_t n, const double* query,
                             double* out) const = 0;
  /// Whether a distance is finish_sums() of the sum of squared differences, added up in column order from 0: numbers of
  /// weight 1, none missing in the training rows.
  virtual bool sums_plain_squares() const = 0;
  /// Writes out[i] = the distance of which sums[i] is that sum. A sum that is NaN gives none.
  virtual void finish_sums(const double* sums, std::int64_t n, double* out) const = 0;
  /// Returns what a filter computes for the measure, which lives as long as the program; null if there is no filter.
  virtual const FilterForm* filter_form() const = 0;
  /// Returns what the formula adds up, if every attribute is numeric and weighs 1 and no training row lacks a value;
  /// else, and for a measure without such a form, null. It lives as long as the program.
  virtual const PlainForm* plain_form() const = 0;
  /// The result is valid as long as the kernel.
  virtual MeasureBytes bytes() const = 0;
  /// Returns the number of terms of one pair: its work, for cutting tasks.
  virtual std::int64_t terms_per_pair() const = 0;
  /// Whether a term calls a logarithm or a function that takes as long (exp, pow, sin), for estimates of time. The
  /// formula's kUsesLogarithms says so.
  virtual bool uses_logarithms() const = 0;
  /// Splits the distance of two rows into a term of every attribute, in column order. Returns what the terms add up to,
  /// as a formula of the distance: "distance^2" (knn/measure/terms.hpp). Null: the measure has no such terms.
  virtual const char* split(const double* train, const double* query, double* terms) const = 0;
  /// Returns the bytes of work space of one thread.
  virtual std::int64_t scratch_bytes() const = 0;
};

/// A sum of squares beyond this has a distance beyond the one whose sum is `sum`. Roots of sums next to each other may
/// be equal, and their ties are decided by the rows. Rounding to 53 bits moves a root or square by less than 2^-53, and
/// what underflows is less than 1e-300.
inline double beyond_ties(double sum) {
  return sum * (1.0 + 0x1p-50) + 1e-300;
}

/// No row is nearer than `threshold`, or as near, if its sum of squares is greater. `root`: distances are roots of
/// sums.
inline double most_sum(double threshold, bool root) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return threshold < kInf ? beyond_ties(root ? threshold * threshold : threshold) : kInf;
}

/// Calls the given function with consecutive encoded rows and their number, in order, until all training rows have
/// passed.
using RowVisitor = std::function<void(const std::function<void(const double* rows, std::int64_t n)>&)>;

/// What a measure may use when it is fitted.
struct MeasureContext {
  const Metric& metric;
  const std::vector<Attribute>& attributes;  ///< kept alive as long as the kernel
  const RowVisitor& visit_rows;
  std::int64_t n_rows;
  Compat compat;
  const CancelToken& cancel;

  /// Returns the parameter as a number, or `fallback`; throws invalid_argument if it is no finite number.
  double number(const char* key, double fallback) const;
};

}  // namespace stope::knn
