#include "gram/lsq_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/from_zero.hpp"
#include "base/memory.hpp"
#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "gram/lsqr.hpp"
#include "gram/orthogonal.hpp"
#include "gram/pca_fit.hpp"
#include "stope/error.hpp"
#include "stope/warning.hpp"

namespace stope::gram {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kMostRefinements = 10;
// Seconds. A decomposition is exact, LSQR is not. So the decomposition is used unless it takes longer than this and
// than LSQR.
constexpr double kPatience = 10.0;
constexpr double kStepsOfLsqr = 100.0;

double length_of(const std::vector<double>& v) {
  return norm(v.data(), static_cast<std::int64_t>(v.size()));
}

}  // namespace

LsqFit::LsqFit(const Table& table, std::vector<std::int64_t> labels, std::int64_t n_columns, const LsqOptions& options,
               const RunOptions& run)
    : table_(table),
      options_(options),
      run_(run),
      pool_(threads_for_fit(table.n_rows, n_columns, run)),
      labels_(std::move(labels)),
      n_(table.n_rows),
      p_(n_columns) {
  require_from_zero("alpha", options.alpha);
  require_from_zero("tolerance", options.tolerance);
  require_from_zero("max_iterations", options.max_iterations);
  if (labels_.front() < 0) throw Error(ErrorCode::invalid_argument, "no target: a column of role label is needed");
}

LsqFit::LsqFit(const Table& table, std::vector<std::int64_t> labels, const LsqOptions& options, const RunOptions& run)
    : LsqFit(table, std::move(labels), std::ssize(table.columns), options, run) {
  const std::vector<std::int64_t> features = numeric_features(table, options.nominal);
  p_ = std::ssize(features);
  const PhaseProgress phase(run, "columns", 0);
  read_weights();
  take(NumericColumns(table, features, options.missing, weights_, NumericColumns::Summaries::yes, pool_, run.cancel));
}

std::unique_ptr<LsqFit> LsqFit::of_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                        const Table& table, std::vector<std::int64_t> labels, const LsqOptions& options,
                                        const RunOptions& run) {
  if (rows.n_rows != table.n_rows) {
    throw Error(ErrorCode::invalid_argument,
                std::to_string(rows.n_rows) + " rows, and labels of " + std::to_string(table.n_rows) + " rows");
  }
  std::unique_ptr<LsqFit> fit(new LsqFit(table, std::move(labels), rows.n_columns, options, run));
  const PhaseProgress phase(run, "columns", 0);
  fit->read_weights();
  std::optional<NumericColumns> matrix = NumericColumns::of_rows(rows, names, fit->pool_, run.cancel);
  if (!matrix) return nullptr;
  fit->take(std::move(*matrix));
  return fit;
}

void LsqFit::take(NumericColumns matrix) {
  matrix_ = std::move(matrix);
  if (!options_.fit_intercept) matrix_.shift.assign(static_cast<std::size_t>(p_), 0.0);
  matrix_.row_factor = weights_;
  for (double& v : matrix_.row_factor) v = std::sqrt(v);
  read_target(labels_.front());
}

// Factors are powers of two, which are exact. By columns, each column (with its share of the ridge) gets a length near
// 1. By rows, and where LSQR has to find the solution of least norm, all columns get the same factor.
void LsqFit::scale_columns(Side side, bool least_norm) {
  std::vector<double> lengths;
  for (std::int64_t j = 0; j < p_; ++j) {
    const ColumnSummary& summary = matrix_.summaries()[static_cast<std::size_t>(j)];
    const double mean = options_.fit_intercept ? 0.0 : std::fabs(summary.mean) * std::sqrt(total_weight_);
    lengths.push_back(std::hypot(summary.length, mean));
  }
  const double longest = *std::max_element(lengths.begin(), lengths.end());
  for (std::int64_t j = 0; j < p_; ++j) {
    const bool own = side == Side::columns && !least_norm;
    const double length = own ? std::hypot(lengths[static_cast<std::size_t>(j)], std::sqrt(options_.alpha)) : longest;
    int exponent = 0;
    if (length > 0.0) std::frexp(length, &exponent);
    matrix_.factor[static_cast<std::size_t>(j)] = std::ldexp(1.0, -exponent);
  }
  ridge_.clear();
  if (options_.alpha == 0.0) return;
  for (const double factor : matrix_.factor) {
    const double root = std::sqrt(options_.alpha) * factor;
    ridge_.push_back(root * root);
  }
}

LsqFit::Method LsqFit::plan() {
  DecomposeReport& report = report_;
  const std::int64_t q = std::min(n_, p_), depth = std::max(n_, p_);
  const std::int64_t budget = memory_budget(run_);
  const std::int64_t vectors = checked::mul(32, checked::add(n_, p_));
  const std::int64_t direct = checked::add(small_side_bytes(n_, p_, pool_.size()), vectors);
  report.n_samples = n_;
  report.n_features = p_;
  report.threads = pool_.size();
  report.memory_budget = budget;
  const std::string side = p_ <= n_ ? std::to_string(p_) + " features" : std::to_string(n_) + " rows";
  if (options_.standard_errors) {
    if (options_.alpha > 0.0) {
      throw Error(ErrorCode::invalid_argument, "standard errors exist for least squares only: set alpha to 0",
                  {.option = "alpha"});
    }
    const std::int64_t unknowns = p_ + (options_.fit_intercept ? 1 : 0);
    if (n_counted_ <= unknowns) {
      throw Error(
          ErrorCode::invalid_argument,
          "no standard errors: " + std::to_string(n_counted_) + " rows for " + std::to_string(unknowns) + " unknowns",
          {.option = "standard_errors"});
    }
    if (direct > budget) {
      refuse_memory("the products of " + side + ", for standard errors, need", direct, budget);
    }
  }
  // Nanoseconds, as in pca_plan.cpp.
  const auto size = static_cast<double>(q);
  const double decompose =
      1e-9 * (0.5 * static_cast<double>(depth) * size * size * 0.04 / pool_.size() + 0.7 * size * size * size);
  const double iterate =
      1e-9 * kStepsOfLsqr * 2.0 * static_cast<double>(n_) * static_cast<double>(p_) * 0.7 / pool_.size();
  const bool quick = decompose <= std::max(kPatience, iterate);
  if (direct <= budget && (quick || options_.standard_errors)) {
    report.method_reason = "the products of " + side + " fit the memory and are quickly decomposed";
    report.memory_planned = direct;
    return Method::direct;
  }
  report.method_reason = direct > budget ? "the products of " + side + " would take " + std::to_string(direct) +
                                               " bytes, more than the memory budget"
                                         : "the products of " + side + " take longer to decompose";
  report.memory_planned = vectors;
  if (vectors > budget) {
    refuse_memory("least squares needs", vectors, budget);
  }
  return Method::lsqr;
}

// A decomposition takes about four passes over the rows. They are made anew in each, unless columns lie so far apart
// that writing the rows out once takes less. LSQR takes many passes.
void LsqFit::open_operator(Method method) {
  constexpr std::int64_t kFewColumns = 1024;
  RunOptions rest = run_;
  DecomposeReport& report = report_;
  const std::int64_t room = report.memory_budget - report.memory_planned;
  const bool anew = method == Method::direct && (p_ <= kFewColumns || n_ < p_);
  const std::int64_t copy = anew ? 0 : copy_bytes(matrix_, room);
  report.memory_planned += copy;
  rest.memory_limit = std::max<std::int64_t>(room - copy, 1);
  constexpr std::int64_t kFewestProducts = 20;  // ten steps, two products each
  operator_ = make_operator(make_row_source(matrix_, copy, pool_, run_.cancel), {matrix_.shift, matrix_.factor}, rest,
                            kFewestProducts);
}

void LsqFit::multiply(const std::vector<double>& t, std::vector<double>& y) {
  operator_->multiply(t, y);
  if (weights_.empty()) return;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= matrix_.row_factor[i];
}

void LsqFit::multiply_transposed(const std::vector<double>& y, std::vector<double>& t) {
  if (weights_.empty()) return operator_->multiply_transposed(y, t);
  std::vector<double> weighted = y;
  for (std::size_t i = 0; i < y.size(); ++i) weighted[i] *= matrix_.row_factor[i];
  operator_->multiply_transposed(weighted, t);
}

// t_ = M^T s, and what it fits.
void LsqFit::multiply_outer(const std::vector<double>& s) {
  fitted_.resize(b_.size());
  std::vector<double> weighted = s;
  for (std::size_t i = 0; i < matrix_.row_factor.size(); ++i) weighted[i] *= matrix_.row_factor[i];
  operator_->outer(weighted, t_, fitted_);
  for (std::size_t i = 0; i < matrix_.row_factor.size(); ++i) fitted_[i] *= matrix_.row_factor[i];
}

// Whether the residual of t, which residual_ is, has the length of that of t_, but for rounding. `gradient` is M^T
// times it. Columns of M are shorter than 1, so that |M (t_ - t)|^2 is at most p |t_ - t|^2.
bool LsqFit::is_near(const std::vector<double>& t, const std::vector<double>& gradient) const {
  double along = 0.0, squares = 0.0;
  for (std::size_t j = 0; j < t.size(); ++j) {
    const double d = t_[j] - t[j];
    along += d * gradient[j];
    squares += d * d;
  }
  const double length = length_of(residual_);
  return static_cast<double>(p_) * squares + 2.0 * std::fabs(along) <= kEpsilon * (length * length);
}

// Sets the residual of t_.
void LsqFit::set_residual() {
  if (!residual_.empty()) return;
  if (fitted_.empty()) {
    fitted_.resize(b_.size());
    multiply(t_, fitted_);
  }
  residual_.resize(b_.size());
  for (std::size_t i = 0; i < b_.size(); ++i) residual_[i] = b_[i] - fitted_[i];
}

std::vector<LinearModel> LsqFit::fit() {
  const RunningJob running(run_);
  const auto start = std::chrono::steady_clock::now();
  const Method method = plan();
  SmallSide small;
  if (method == Method::direct) {
    small = decompose();
  } else {
    scale_for_lsqr();
  }
  open_operator(method);
  std::vector<LinearModel> models;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    if (i > 0) read_target(labels_[i]);
    fitted_.clear();
    residual_.clear();
    model_ = LinearModel();
    model_.report_ = report_;
    model_.rank_ = rank_;
    if (method == Method::direct) {
      solve_directly(small);
    } else {
      solve_by_lsqr();
    }
    finish();
    models.push_back(std::move(model_));
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (LinearModel& model : models) model.report_.seconds = seconds;
  if (run_.warn && rank_ >= 0 && rank_ < std::min(p_, n_ - 1)) {
    run_.warn(warning::kRankDeficient, "the attributes depend on one another (rank " + std::to_string(rank_) + " of " +
                                           std::to_string(p_) + "): of all solutions this is the shortest");
  }
  hand_report(run_, "least squares", models.front().report_);
  return models;
}

SmallSide LsqFit::decompose() {
  const Side side = p_ <= n_ ? Side::columns : Side::rows;
  scale_columns(side, false);
  std::int64_t known_zeros = 0;
  if (side == Side::columns) {
    for (const ColumnSummary& summary : matrix_.summaries()) {
      known_zeros += summary.length == 0.0 && (options_.fit_intercept || summary.mean == 0.0) ? 1 : 0;
    }
  } else if (options_.fit_intercept) {
    known_zeros = 1;  // the weighted rows add up to zero
  }
  const Wanted wanted = options_.standard_errors ? Wanted::eigenvectors : Wanted::solutions;
  SmallSide small = decompose_small_side(matrix_, side, wanted, ridge_, known_zeros, pool_, run_);
  report_.method = small.by_qr ? "qr" : "normal equations";
  if (options_.alpha == 0.0) rank_ = small.rank;
  return small;
}

void LsqFit::solve_directly(const SmallSide& small) {
  t_.assign(static_cast<std::size_t>(p_), 0.0);
  if (p_ <= n_) {
    solve_by_columns(small);
  } else {
    solve_by_rows(small);
  }
  if (options_.standard_errors) set_standard_errors(small);
}

namespace {

// Adds corrections until they no longer shrink, or the next, which shrinks as this one did, is mere rounding.
template <class Correct>
std::int64_t refine(std::vector<double>& x, const Correct& correction) {
  double before = std::numeric_limits<double>::infinity();
  for (std::int64_t step = 0; step < kMostRefinements; ++step) {
    const std::vector<double> d = correction(x);
    const double size = length_of(d);
    if (!(size < 0.5 * before)) return step;
    for (std::size_t j = 0; j < x.size(); ++j) x[j] += d[j];
    if (size * (step == 0 ? 1.0 : std::min(1.0, size / before)) <= 4 * kEpsilon * length_of(x)) return step + 1;
    before = size;
  }
  return kMostRefinements;
}

}  // namespace

void LsqFit::solve_by_columns(const SmallSide& small) {
  std::vector<double> g(t_.size()), near, gradient;
  bool first = true;  // all coefficients are 0 then
  model_.report_.iterations = refine(t_, [&](const std::vector<double>& t) {
    if (std::exchange(first, false)) {
      multiply_transposed(b_, g);
    } else {
      residual_.resize(weights_.empty() ? b_.size() : 0);  // weights are in that residual twice
      operator_->residual(t, {b_, matrix_.row_factor}, g, residual_);
      near = t;
      gradient = g;
    }
    for (std::size_t j = 0; j < g.size() && !ridge_.empty(); ++j) g[j] -= ridge_[j] * t[j];
    return small.solve(g);
  });
  // With Cholesky's factor only constant columns are unseen, and theirs are 0.
  if (small.rank < p_ && options_.alpha == 0.0 && small.factor.empty()) take_least_norm(small);
  if (!residual_.empty() && !is_near(near, gradient)) residual_.clear();
}

// Removes the directions that M does not see, in the units of the coefficients. Without its parts along them the
// solution is the shortest.
void LsqFit::take_least_norm(const SmallSide& small) {
  const std::int64_t n_unseen = p_ - small.rank;
  Buffer<double> directions(checked::mul(p_, n_unseen + 1));
  double largest = 0.0;
  for (std::int64_t i = 0; i < n_unseen; ++i) {
    for (std::int64_t j = 0; j < p_; ++j) {
      double& v = directions[i * p_ + j];
      v = small.vectors[(small.rank + i) * p_ + j] * matrix_.factor[static_cast<std::size_t>(j)];
      largest = std::max(largest, std::fabs(v));
    }
  }
  Orthogonaliser orthogonal(pool_, run_.cancel, 0);
  std::vector<double> upper(static_cast<std::size_t>(n_unseen * n_unseen));
  orthogonal.orthonormalise({directions.data(), p_}, 0, n_unseen, 0.0, upper.data());
  for (std::int64_t j = 0; j < p_; ++j) {
    directions[n_unseen * p_ + j] = t_[static_cast<std::size_t>(j)] * matrix_.factor[static_cast<std::size_t>(j)];
  }
  orthogonal.project_out({directions.data(), p_}, n_unseen, 1, nullptr);
  for (std::int64_t j = 0; j < p_; ++j) {
    t_[static_cast<std::size_t>(j)] = directions[n_unseen * p_ + j] / matrix_.factor[static_cast<std::size_t>(j)];
  }
}

// Solves t = M^T s, (M M^T + ridge) s = b. That is the solution of least norm, since M^T s has no part that M does not
// see.
void LsqFit::solve_by_rows(const SmallSide& small) {
  std::vector<double> s(b_.size(), 0.0), residual = b_;
  const double ridge = ridge_.empty() ? 0.0 : ridge_[0];
  bool first = true;  // all of s is 0 then
  model_.report_.iterations = refine(s, [&](const std::vector<double>& now) {
    if (!std::exchange(first, false)) {
      multiply_outer(now);
      for (std::size_t i = 0; i < b_.size(); ++i) residual[i] = b_[i] - fitted_[i] - ridge * now[i];
    }
    return small.solve(residual);
  });
  multiply_outer(s);
}

void LsqFit::scale_for_lsqr() {
  report_.method = "lsqr";
  const bool least_norm = n_ < p_ && options_.alpha == 0.0;
  scale_columns(Side::columns, least_norm);
}

void LsqFit::solve_by_lsqr() {
  const std::size_t n = b_.size(), more = ridge_.size();
  std::vector<double> y(n), t(static_cast<std::size_t>(p_));
  LsqrProblem problem;
  problem.n_rows = n_ + static_cast<std::int64_t>(more);  // the ridge adds rows of its own
  problem.n_columns = p_;
  problem.multiply = [&](const std::vector<double>& x, std::vector<double>& out) {
    multiply(x, y);
    std::copy(y.begin(), y.end(), out.begin());
    for (std::size_t j = 0; j < more; ++j) out[n + j] = std::sqrt(ridge_[j]) * x[j];
  };
  problem.multiply_transposed = [&](const std::vector<double>& x, std::vector<double>& out) {
    std::copy(x.begin(), x.begin() + n_, y.begin());
    multiply_transposed(y, out);
    for (std::size_t j = 0; j < more; ++j) out[j] += std::sqrt(ridge_[j]) * x[n + j];
  };
  std::vector<double> b = b_;
  b.resize(n + more, 0.0);
  const std::int64_t limit = options_.max_iterations > 0 ? options_.max_iterations : 4 * std::min(n_, p_) + 100;
  LsqrResult result = lsqr(problem, b, options_.tolerance, limit, run_);
  if (!result.converged) {
    throw Error(ErrorCode::unsupported, "least squares did not converge in " + std::to_string(limit) +
                                            " steps: the residual's angle is " + number_text(result.angle) +
                                            ", the tolerance " + number_text(options_.tolerance) +
                                            "; more steps, a larger tolerance or a larger alpha help");
  }
  t_ = std::move(result.x);
  model_.report_.iterations = result.steps;
  model_.report_.products = 2 * result.steps + 1;
}

// Computes sigma^2 (M^T M)^-1 and scales it back. The intercept's variance adds the part of the means.
void LsqFit::set_standard_errors(const SmallSide& small) {
  model_.standard_errors_.assign(static_cast<std::size_t>(p_), kNaN);
  model_.intercept_standard_error_ = kNaN;
  if (small.rank < p_) return;
  set_residual();
  const double left = static_cast<double>(n_counted_ - p_ - (options_.fit_intercept ? 1 : 0));
  const double sigma = std::ldexp(length_of(residual_) / std::sqrt(left), exponent_);
  std::vector<double> squares(static_cast<std::size_t>(p_), 0.0);
  double intercept = 1.0 / total_weight_;
  for (std::int64_t i = 0; i < p_; ++i) {
    const double* const vector = small.vectors.data() + i * p_;
    const double value = small.values[static_cast<std::size_t>(i)];
    double along = 0.0;
    for (std::int64_t j = 0; j < p_; ++j) {
      const auto at = static_cast<std::size_t>(j);
      squares[at] += vector[j] * vector[j] / value;
      along += vector[j] * matrix_.factor[at] * matrix_.shift[at];
    }
    intercept += along * along / value;
  }
  for (std::size_t j = 0; j < squares.size(); ++j) {
    model_.standard_errors_[j] = matrix_.factor[j] * std::sqrt(squares[j]) * sigma;
  }
  model_.intercept_standard_error_ = options_.fit_intercept ? std::sqrt(intercept) * sigma : kNaN;
}

void LsqFit::finish() {
  set_residual();
  const double length = std::ldexp(length_of(residual_), exponent_);
  model_.rss_ = length * length;
  const double unexplained = length / target_length_;
  model_.r2_ = target_length_ > 0.0 ? 1.0 - unexplained * unexplained : kNaN;
  double at_means = 0.0;
  for (std::int64_t j = 0; j < p_; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double coefficient = std::ldexp(t_[at] * matrix_.factor[at], exponent_);
    if (!std::isfinite(coefficient)) {
      throw Error(ErrorCode::invalid_data, "column '" + matrix_.name(j) + "': its coefficient overflows",
                  {.file = table_.source, .feature = matrix_.name(j)});
    }
    model_.coefficients_.push_back(coefficient);
    model_.names_.push_back(matrix_.name(j));
    at_means += coefficient * matrix_.shift[at];
  }
  model_.intercept_ = options_.fit_intercept ? target_mean_ - at_means : 0.0;
  model_.mean_ = matrix_.fill;
  model_.missing_ = options_.missing;
  // Threads and seconds are those of the whole fit.
  const GramReport products = operator_->report();
  model_.report_.backend = products.backend;
  model_.report_.reason = products.reason;
  model_.report_.device_reason = products.device_reason;
}

}  // namespace stope::gram
