// One fit of linear models of a table's labels: from the table to coefficients.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/numeric_columns.hpp"
#include "gram/operator.hpp"
#include "gram/small_side.hpp"
#include "stope/lsq.hpp"

namespace stope::gram {

/// The scaled problem of one label: minimise |b - M t|^2 + sum ridge_j t_j^2, where M = diag(sqrt(w)) (X - means)
/// diag(factor). The coefficients are factor_j t_j 2^exponent. All but b is the same for every label.
class LsqFit {
 public:
  /// `labels` are indices of columns, at least one; -1 stands for a label that the table lacks.
  LsqFit(const Table& table, std::vector<std::int64_t> labels, const LsqOptions& options, const RunOptions& run);
  /// The features are rows in memory, whose columns have these names, and `table` has the labels. Nothing where they
  /// cannot be read in place: see LinearModel::fit_rows().
  static std::unique_ptr<LsqFit> of_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                         const Table& table, std::vector<std::int64_t> labels,
                                         const LsqOptions& options, const RunOptions& run);
  std::vector<LinearModel> fit();

 private:
  LsqFit(const Table& table, std::vector<std::int64_t> labels, std::int64_t n_columns, const LsqOptions& options,
         const RunOptions& run);
  void take(NumericColumns matrix);
  void read_weights();
  void read_target(std::int64_t label);
  void scale_columns(Side side, bool least_norm);
  enum class Method { direct, lsqr };
  Method plan();
  void open_operator(Method method);
  void multiply(const std::vector<double>& t, std::vector<double>& y);
  void multiply_transposed(const std::vector<double>& y, std::vector<double>& t);
  void multiply_outer(const std::vector<double>& s);
  void set_residual();
  bool is_near(const std::vector<double>& t, const std::vector<double>& gradient) const;
  SmallSide decompose();
  void solve_directly(const SmallSide& small);
  void solve_by_columns(const SmallSide& small);
  void solve_by_rows(const SmallSide& small);
  void take_least_norm(const SmallSide& small);
  void scale_for_lsqr();
  void solve_by_lsqr();
  void set_standard_errors(const SmallSide& small);
  void finish();

  const Table& table_;
  const LsqOptions& options_;
  const RunOptions& run_;
  ThreadPool pool_;
  std::vector<std::int64_t> labels_;
  std::vector<double> weights_;  // empty = ones
  NumericColumns matrix_;
  std::int64_t n_ = 0, p_ = 0;
  std::int64_t n_counted_ = 0;  // rows of positive weight
  double total_weight_ = 0.0, target_mean_ = 0.0, target_length_ = 0.0;
  int exponent_ = 0;  // the target's scale is 2^exponent
  std::vector<double> b_, ridge_, t_;
  std::vector<double> residual_;  // of t_, or of coefficients so near that its length is the same; empty: not known
  std::vector<double> fitted_;    // M t_, where it is known
  std::unique_ptr<Operator> operator_;
  DecomposeReport report_;  // of what all labels share
  std::int64_t rank_ = -1;
  LinearModel model_;  // of the label that is solved
};

}  // namespace stope::gram
