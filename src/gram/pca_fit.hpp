// One fit of a PCA: from the columns of a table, or rows in memory, to eigenvalues and components.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/numeric_columns.hpp"
#include "gram/pca_plan.hpp"
#include "stope/pca.hpp"

namespace stope::gram {

class PcaFit {
 public:
  PcaFit(const Table& table, const PcaOptions& options, const RunOptions& run);
  /// Rows in memory, whose columns have these names. Nothing where they cannot be read in place: see Pca::fit_rows().
  static std::unique_ptr<PcaFit> of_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                         const PcaOptions& options, const RunOptions& run);
  Pca fit();

 private:
  PcaFit(std::int64_t n_rows, std::int64_t n_columns, const PcaOptions& options, const RunOptions& run);
  PcaFit(const Table& table, const std::vector<std::int64_t>& features, const PcaOptions& options,
         const RunOptions& run);
  void take(NumericColumns matrix);
  void scale_columns();
  void check_options() const;
  PcaShape shape() const;
  /// How many of the eigenvalues are wanted, the largest first; -1: more than are given.
  std::int64_t wanted_of(const std::vector<double>& values) const;
  void formed(PcaMethod method);
  void decompose(Buffer<double>& matrix, std::vector<double>& values);
  void components_from_rows(const std::vector<double>& values, const double* vectors, std::int64_t n_wanted);
  void lanczos();
  void set_signs();
  void set_variances(const std::vector<double>& values, std::int64_t n_wanted);
  void set_variances_of_scores();

  const PcaOptions& options_;
  const RunOptions& run_;
  ThreadPool pool_;
  NumericColumns matrix_;
  std::int64_t n_, p_, q_;
  int exponent_ = 0;    // the matrix is scaled by 2^-exponent, so that no square overflows or vanishes
  double total_ = 0.0;  // the sum of squares of the centred matrix
  Pca model_;
};

/// Threads that a fit of so many values is worth.
int threads_for_fit(std::int64_t n_rows, std::int64_t n_columns, const RunOptions& run);

/// Returns the features that count, in column order. Throws as MissingValues and NominalFeatures say, and invalid_data
/// where there are none or no rows.
std::vector<std::int64_t> numeric_features(const Table& table, NominalFeatures nominal);

}  // namespace stope::gram
