// Methods that find the cuts of one numeric attribute at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress.hpp"
#include "discretize/problem.hpp"
#include "stope/buffer.hpp"
#include "stope/discretize.hpp"

namespace stope::discretize {

/// The present values of an attribute in ascending order, and the class and weight of each. A method that does not look
/// at classes gets none.
struct SortedValues {
  Buffer<double> values;
  Buffer<std::int32_t> classes;
  Buffer<std::int64_t> weights;  ///< 1 each, or in kWeightUnit
  std::int64_t n = 0;            ///< of the values; the buffers have room for more

  std::int64_t size() const { return n; }
  double at(std::int64_t i) const { return values[i]; }
  bool differs(std::int64_t i) const { return at(i) != at(i + 1); }
};

/// Safe to use from several threads at once.
class IntervalMethod {
 public:
  virtual ~IntervalMethod() = default;
  /// Bytes that cuts() holds at most for a column of n_rows, beside the column.
  virtual std::int64_t bytes(std::int64_t n_rows) const = 0;
  /// Returns ascending cuts; none where there is no value. Polls and tells by `progress`.
  virtual std::vector<double> cuts(const SortedValues& column, TaskProgress& progress) const = 0;
};

/// Throws invalid_argument for options out of range. The problem must outlive the method.
std::unique_ptr<IntervalMethod> make_mdlp(const DecisionProblem& problem);
std::unique_ptr<IntervalMethod> make_chimerge(const DecisionProblem& problem, double confidence,
                                              std::int64_t min_intervals);
std::unique_ptr<IntervalMethod> make_equal_width(std::int64_t n_bins);
std::unique_ptr<IntervalMethod> make_equal_frequency(std::int64_t n_bins);

}  // namespace stope::discretize
