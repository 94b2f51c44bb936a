// Principal component analysis of the numeric features of a table, wide or tall (docs/numerics/pca.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stope/array.hpp"
#include "stope/buffer.hpp"
#include "stope/decompose.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::gram {
class PcaFit;  // src/gram/pca_fit.cpp
}  // namespace stope::gram

#pragma GCC visibility push(default)
namespace stope {
/// The parameter is called n_components, as in scikit-learn.
struct PcaOptions {
  /// 0: all, min(rows, features). A whole number from 1 on: that many. Between 0 and 1: as many as explain more than
  /// that share of the variance.
  double n_components = 0.0;
  bool whiten = false;  ///< scores are divided by their standard deviations
  /// none: scikit-learn's TruncatedSVD, with its explained variance: that of the scores. n_components must then be 0 or
  /// a whole number, and whiten false.
  Centering centering = Centering::mean;
  Scaling scaling = Scaling::none;
  MissingValues missing = MissingValues::error;
  NominalFeatures nominal = NominalFeatures::error;
  double tolerance = 1e-12;           ///< block Lanczos: residual as a share of the largest eigenvalue
  std::int64_t max_iterations = 500;  ///< block Lanczos: restarts
  std::uint64_t seed = 0;             ///< block Lanczos: first directions
};

/// Fitted components. Copies share the data; everything is const and safe from several threads at once.
class Pca {
 public:
  /// Fits the components. The centred matrix is never formed. Where it is faster and fits the memory budget, this
  /// decomposes the matrix of the smaller side: covariances of the features, or products of the rows where these are
  /// fewer. Otherwise it runs block Lanczos on the table. Signs: each component's entry of largest magnitude (the first
  /// of equal ones) is positive. Throws invalid_argument for a bad n_components (negative, not whole, more than
  /// min(rows, features)), a tolerance or max_iterations below 0, and for a share or whiten without centring;
  /// invalid_data for a table without rows or features; for missing, infinite and nominal values what
  /// docs/numerics/pca.md says; out_of_memory naming the bytes; unsupported where block Lanczos did not converge. Cost
  /// for n rows and p features: n p min(n, p) multiplications and about 9 min(n, p)^3 more, or, with block Lanczos, one
  /// pass over the table for every 8 products.
  static Pca fit(const Table& table, const PcaOptions& options, const RunOptions& run = {});
  /// The same fit, bit for bit, of rows in memory whose columns are the features; they have these names, or x0, x1, ...
  /// if there are none. Rows are read where they lie, without a table. Returns nothing where that is not possible: for
  /// rows other than contiguous float32 or float64 in the host's memory, and where a value is missing, infinite or too
  /// large. fit() of table_of() then fits them or says what is wrong. Throws invalid_argument for another number of
  /// names and for names that repeat, too.
  static std::optional<Pca> fit_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                     const PcaOptions& options, const RunOptions& run = {});

  /// The scores of a table's rows: numeric columns pc1, pc2, ... (float64), then the table's columns that are not
  /// features, shared. Attributes are matched by name; others are left out.
  /// Throws invalid_data for an attribute that is absent or nominal, for an infinite value, and for a missing one
  /// (MissingValues::error).
  Table transform(const Table& table, const RunOptions& run = {}) const;
  /// The same scores of rows in memory, whose columns are the features in their order: those of row r go to
  /// scores[r * n_components()]. Rows are read where they lie, without a table. Returns false, with scores that mean
  /// nothing, where that is not possible: for rows other than contiguous float32 or float64 in the host's memory, and
  /// where a value is missing or infinite. transform() then says what is wrong. Throws invalid_argument for another
  /// number of columns.
  bool transform_rows(const ArrayView& rows, double* scores, const RunOptions& run = {}) const;
  bool transform_rows(const ArrayView& rows, float* scores, const RunOptions& run = {}) const;

  /// The fitted components as a table, and back (docs/FORMATS.md). from_table() uses only `whiten` and `missing` of the
  /// options; `n_samples`, the rows of the fit, goes to the report.
  Table to_table() const;
  static Pca from_table(const Table& table, const PcaOptions& options = {}, std::int64_t n_samples = 0);

  std::int64_t n_components() const { return static_cast<std::int64_t>(explained_variance_.size()); }
  std::int64_t n_features() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& feature_names() const { return names_; }
  /// What is subtracted from columns unless centering() is none, and what missing values count as.
  const std::vector<double>& mean() const { return mean_; }
  const std::vector<double>& scale() const { return scale_; }  ///< what values are divided by then
  /// Component i, of length 1, at components()[i * n_features()].
  const Buffer<double>& components() const { return components_; }
  const std::vector<double>& explained_variance() const { return explained_variance_; }  ///< docs/numerics/pca.md
  const std::vector<double>& explained_variance_ratio() const { return ratio_; }
  const std::vector<double>& singular_values() const { return singular_values_; }
  double noise_variance() const { return noise_variance_; }  ///< mean variance of the components left out; 0 if none
  bool whiten() const { return whiten_; }
  Centering centering() const { return centering_; }
  MissingValues missing() const { return missing_; }
  const DecomposeReport& report() const { return report_; }

 private:
  friend class gram::PcaFit;
  template <class T>
  bool transform_rows_to(const ArrayView& rows, T* scores, const RunOptions& run) const;
  std::vector<std::string> names_;
  std::vector<double> mean_, scale_;
  Buffer<double> components_;
  std::vector<double> explained_variance_, ratio_, singular_values_;
  double noise_variance_ = 0.0;
  bool whiten_ = false;
  Centering centering_ = Centering::mean;
  MissingValues missing_ = MissingValues::error;
  DecomposeReport report_;
};

}  // namespace stope
#pragma GCC visibility pop
