// Least squares and ridge regression on the numeric features of a table (docs/numerics/lsq.md).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "stope/array.hpp"
#include "stope/decompose.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::gram {
class LsqFit;  // src/gram/lsq_fit.cpp
}  // namespace stope::gram

#pragma GCC visibility push(default)
namespace stope {
struct LsqOptions {
  double alpha = 0.0;  ///< ridge: minimises |y - Xb|^2 + alpha |b|^2; the intercept is not penalised
  bool fit_intercept = true;
  bool standard_errors = false;
  MissingValues missing = MissingValues::error;
  NominalFeatures nominal = NominalFeatures::error;
  double tolerance = 1e-10;         ///< lsqr: bound of the residual's angle with the columns
  std::int64_t max_iterations = 0;  ///< lsqr: steps; 0 = 4 min(rows, features) + 100
};

/// What a fit knew of its training rows, and the table of coefficients does not say.
struct LinearFit {
  std::int64_t n_samples = 0;
  std::int64_t rank = -1;
  double residual_sum_of_squares = std::numeric_limits<double>::quiet_NaN();
  double r2 = std::numeric_limits<double>::quiet_NaN();
};

/// A fitted linear model. Everything is const and safe from several threads at once.
class LinearModel {
 public:
  /// Fits the label column of `table`: it is numeric, and not missing in a row that counts. A column of role weight
  /// weights the rows (>= 0; a row of weight 0 is left out). If alpha is 0 and columns depend on one another or
  /// outnumber the rows, this is the solution of least norm. Throws invalid_argument for alpha, tolerance or
  /// max_iterations below 0 and for standard errors where there are none (alpha > 0, more features than rows, a matrix
  /// beyond the memory budget). Throws invalid_data for the data that Pca::fit refuses, and unsupported where lsqr did
  /// not converge within max_iterations.
  static LinearModel fit(const Table& table, const LsqOptions& options, const RunOptions& run = {});
  /// Fits every column of role label, in the table's order. Each model has the bits that fit() gives with its label
  /// alone. The features are summed up and decomposed once; each label adds some passes over the table.
  static std::vector<LinearModel> fit_each(const Table& table, const LsqOptions& options, const RunOptions& run = {});

  /// The same fits, bit for bit, of rows in memory: rows, names and what cannot be done are as in Pca::fit_rows(). The
  /// columns of `labels` are one label each, of numbers; with a column of role weight nothing is returned, either.
  static std::optional<std::vector<LinearModel>> fit_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                                          const Table& labels, const LsqOptions& options,
                                                          const RunOptions& run = {});

  /// Returns one prediction per row. Attributes are matched by name. Errors as in Pca::transform.
  std::vector<double> predict(const Table& table, const RunOptions& run = {}) const;
  /// Returns the predictions of several models, row by row: that of model m for a row is number row * n_models + m.
  /// Each has the bits of predict(). 16 models cost no more than one. Throws invalid_argument for no models, and for
  /// models that differ in their attributes or in what a missing value counts as.
  static std::vector<double> predict_each(const std::vector<const LinearModel*>& models, const Table& table,
                                          const RunOptions& run = {});
  /// The same predictions for rows in memory, whose columns are the features in their order. Rows, result and errors
  /// are those of Pca::transform_rows(): where it returns false, predict_each() says what is wrong.
  static bool predict_rows(const std::vector<const LinearModel*>& models, const ArrayView& rows, double* predictions,
                           const RunOptions& run = {});

  /// Splits predictions: coefficient times value for every row and feature, row-major. Together with the intercept they
  /// add up to the prediction, but for rounding. Errors as in predict(). Memory: 8 bytes a value.
  std::vector<double> contributions(const Table& table, const RunOptions& run = {}) const;

  /// The coefficients as a table, and back (docs/FORMATS.md), with their standard errors if there are any.
  Table to_table() const;
  static LinearModel from_table(const Table& table, MissingValues missing = MissingValues::error,
                                const LinearFit& fit = {});

  const std::vector<std::string>& feature_names() const { return names_; }
  const std::vector<double>& coefficients() const { return coefficients_; }
  double intercept() const { return intercept_; }
  /// Empty unless LsqOptions asked for them; NaN where the columns depend on one another.
  const std::vector<double>& standard_errors() const { return standard_errors_; }
  double intercept_standard_error() const { return intercept_standard_error_; }
  std::int64_t rank() const { return rank_; }              ///< of the centred columns; -1 for lsqr and where alpha > 0
  double residual_sum_of_squares() const { return rss_; }  ///< weighted
  double r2() const { return r2_; }  ///< for the training rows, weighted; NaN for a constant target
  MissingValues missing() const { return missing_; }
  const DecomposeReport& report() const { return report_; }

 private:
  friend class gram::LsqFit;
  static std::vector<double> coefficients_of(const std::vector<const LinearModel*>& models);
  std::vector<std::string> names_;
  std::vector<double> coefficients_, mean_, standard_errors_;  // mean_: what a missing value counts as
  double intercept_ = 0.0, intercept_standard_error_ = 0.0;
  double rss_ = 0.0, r2_ = 0.0;
  std::int64_t rank_ = -1;
  MissingValues missing_ = MissingValues::error;
  DecomposeReport report_;
};

}  // namespace stope
#pragma GCC visibility pop
