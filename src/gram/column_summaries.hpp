// One pass or two over columns of numbers: how many values are present, how far they reach, their mean and spread.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/thread_pool.hpp"
#include "stope/table.hpp"

namespace stope::gram {

/// The result for a column. Missing values are left out, and so are rows of weight 0.
struct ColumnSummary {
  std::int64_t n_present = 0;
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  double mean = 0.0;       ///< (weighted) mean, exactly the value of a constant column
  double length = 0.0;     ///< root of the (weighted) sum of squared deviations, exactly 0 for a constant column
  double deviation = 0.0;  ///< the largest |value - mean|
};

/// Deviations are scaled by a power of two, which is exact, so that no square overflows or vanishes. The power comes in
/// two steps, since 2^1074 is no double.
struct DeviationScale {
  int exponent = 0;
  double half, rest;

  explicit DeviationScale(double deviation);
};

/// Sets mean and deviation from the sums of a column's groups, which are overwritten, and the total weight.
void set_mean(ColumnSummary& summary, double* sums, std::int64_t n_groups, double total);
/// Sets the length from the groups' sums of scaled squared deviations, which are overwritten.
void set_length(ColumnSummary& summary, double* squares, std::int64_t n_groups);

/// Summaries of columns of n_rows numbers, in their order. `row_weights` are one per row, or empty: all ones. Sums have
/// the shape of base/row_sums.hpp, so that nothing depends on threads or instruction sets.
class ColumnSummaries {
 public:
  ColumnSummaries(const std::vector<const Column*>& columns, std::int64_t n_rows,
                  const std::vector<double>& row_weights, ThreadPool& pool, const CancelToken& cancel);
  /// The first pass: n_present, low and high. Infinite values reach them.
  const std::vector<ColumnSummary>& extents() const { return summaries_; }
  /// Adds mean, deviation and length; needs finite values. A mean or deviation that overflows is not finite.
  void measure();
  std::vector<ColumnSummary> take() { return std::move(summaries_); }

 private:
  struct Task;
  std::vector<Task> tasks() const;
  template <class Work>
  void for_each_task(const Work& work);

  const std::vector<const Column*>& columns_;
  std::int64_t n_rows_, n_groups_;
  const double* weights_;  // null: ones
  ThreadPool& pool_;
  const CancelToken cancel_;
  std::vector<ColumnSummary> summaries_;
  std::vector<double> sums_, totals_;  // of values and weights: [column][group of rows]
};

}  // namespace stope::gram
