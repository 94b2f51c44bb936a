// One fit of a linear model: from a table to coefficients.
#pragma once

#include <memory>

#include "base/thread_pool.hpp"
#include "gram/numeric_columns.hpp"
#include "gram/operator.hpp"
#include "gram/small_side.hpp"
#include "stope/lsq.hpp"

namespace stope::gram {

/// The scaled problem: minimise |b - M t|^2 + sum ridge_j t_j^2, where M = diag(sqrt(w)) (X - means) diag(factor). The
/// coefficients are factor_j t_j 2^exponent.
class LsqFit {
 public:
  LsqFit(const Table& table, const LsqOptions& options, const RunOptions& run);
  LinearModel fit();

 private:
  void read_weights();
  void read_target();
  void scale_columns(Side side, bool least_norm);
  enum class Method { direct, lsqr };
  Method plan();
  void open_operator();
  void multiply(const std::vector<double>& t, std::vector<double>& y);
  void multiply_transposed(const std::vector<double>& y, std::vector<double>& t);
  void solve_directly();
  void solve_by_columns(const SmallSide& small);
  void solve_by_rows(const SmallSide& small);
  void take_least_norm(const SmallSide& small);
  void solve_by_lsqr();
  void set_standard_errors(const SmallSide& small);
  void finish();

  const Table& table_;
  const LsqOptions& options_;
  const RunOptions& run_;
  ThreadPool pool_;
  std::int64_t label_ = -1;
  std::vector<double> weights_;  // empty = ones
  NumericColumns matrix_;
  std::int64_t n_ = 0, p_ = 0;
  std::int64_t n_counted_ = 0;  // rows of positive weight
  double total_weight_ = 0.0, target_mean_ = 0.0, target_length_ = 0.0;
  int exponent_ = 0;  // the target's scale is 2^exponent
  std::vector<double> b_, ridge_, t_, residual_;
  std::unique_ptr<Operator> operator_;
  LinearModel model_;
};

}  // namespace stope::gram
