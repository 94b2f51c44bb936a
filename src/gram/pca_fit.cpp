#include "gram/pca_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/checked.hpp"
#include "base/from_zero.hpp"
#include "base/memory.hpp"
#include "base/number_text.hpp"
#include "base/progress.hpp"
#include "base/reduce.hpp"
#include "base/report.hpp"
#include "base/row_sums.hpp"
#include "base/threads_for.hpp"
#include "device/auto_gpu.hpp"
#include "gram/block_lanczos.hpp"
#include "gram/dense.hpp"
#include "gram/operator.hpp"
#include "gram/orthogonal.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"
#include "table/check_table.hpp"

namespace stope::gram {
namespace {

// A component made from the rows' side loses digits of its orthogonality: eps * largest / eigenvalue. Below this share
// of the largest eigenvalue it is therefore projected against those before it.
constexpr double kLosesOrthogonality = 1e-4;
// Restarts on a formed matrix. If the few wanted eigenvectors have not converged by then (a spectrum without gaps), the
// matrix is decomposed whole.
constexpr std::int64_t kRestartsOfFormed = 60;
// Entries that differ by less than this share of the largest tie for the sign: only rounding would tell which is
// larger.
constexpr double kSignTie = 1e-9;
// Entries of the matrix beyond this could overflow in sums of squares. Only a constant column that is neither scaled
// nor centred leads there.
constexpr double kLargestEntry = 1e140;

std::string_view name_of(PcaMethod method) {
  switch (method) {
    case PcaMethod::covariance: return "covariance";
    case PcaMethod::outer: return "outer products";
    case PcaMethod::lanczos: break;
  }
  return "block Lanczos";
}

}  // namespace

std::vector<std::int64_t> numeric_features(const Table& table, NominalFeatures nominal) {
  check_shape(table);
  check_names(table);
  std::vector<std::int64_t> features = table.features();
  if (nominal == NominalFeatures::skip) {
    std::erase_if(features, [&](std::int64_t j) { return table.columns[static_cast<std::size_t>(j)].nominal(); });
  }
  if (features.empty()) throw Error(ErrorCode::invalid_data, "no numeric features", {table.source});
  if (table.n_rows == 0) throw Error(ErrorCode::invalid_data, "no rows", {table.source});
  return features;
}

int threads_for_fit(std::int64_t n_rows, std::int64_t n_columns, const RunOptions& run) {
  // Nanoseconds: some passes over a value, and its products with the smaller side.
  const double products = 0.02 * static_cast<double>(std::min(n_rows, n_columns));
  const double seconds = 1e-9 * static_cast<double>(n_rows) * static_cast<double>(n_columns) * (3.0 + products);
  return threads_for(seconds, run.threads > 0 ? run.threads : available_threads());
}

PcaFit::PcaFit(std::int64_t n_rows, std::int64_t n_columns, const PcaOptions& options, const RunOptions& run)
    : options_(options),
      run_(run),
      pool_(threads_for_fit(n_rows, n_columns, run)),
      n_(n_rows),
      p_(n_columns),
      q_(std::min(n_rows, n_columns)) {
  check_options();
}

PcaFit::PcaFit(const Table& table, const PcaOptions& options, const RunOptions& run)
    : PcaFit(table, numeric_features(table, options.nominal), options, run) {}

PcaFit::PcaFit(const Table& table, const std::vector<std::int64_t>& features, const PcaOptions& options,
               const RunOptions& run)
    : PcaFit(table.n_rows, std::ssize(features), options, run) {
  const PhaseProgress phase(run, "columns", 0);
  take(NumericColumns(table, features, options.missing, {}, NumericColumns::Summaries::yes, pool_, run.cancel));
}

std::unique_ptr<PcaFit> PcaFit::of_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                        const PcaOptions& options, const RunOptions& run) {
  std::unique_ptr<PcaFit> fit(new PcaFit(rows.n_rows, rows.n_columns, options, run));
  const PhaseProgress phase(run, "columns", 0);
  std::optional<NumericColumns> matrix = NumericColumns::of_rows(rows, names, fit->pool_, run.cancel);
  if (!matrix) return nullptr;
  fit->take(std::move(*matrix));
  return fit;
}

void PcaFit::take(NumericColumns matrix) {
  matrix_ = std::move(matrix);
  if (options_.centering == Centering::none) matrix_.shift.assign(static_cast<std::size_t>(p_), 0.0);
}

void PcaFit::check_options() const {
  require_from_zero("tolerance", options_.tolerance);
  require_from_zero("max_iterations", options_.max_iterations);
  const double k = options_.n_components;
  if (options_.centering == Centering::none) {
    if (k > 0 && k < 1) {
      throw Error(ErrorCode::invalid_argument,
                  "n_components " + number_text(k) + ": a share of the variance needs centring",
                  {.option = "n_components"});
    }
    if (options_.whiten) throw Error(ErrorCode::invalid_argument, "whiten needs centring", {.option = "whiten"});
  }
  if (k >= 0 && (k < 1 || (k == std::floor(k) && k <= static_cast<double>(q_)))) return;
  throw Error(ErrorCode::invalid_argument,
              "n_components " + number_text(k) + ": a whole number from 1 to " + std::to_string(q_) +
                  " (the smaller of rows and features), or a share of the variance between 0 and 1",
              {.option = "n_components"});
}

// Sets the factors of the columns: a common power of two, or the inverse standard deviation.
void PcaFit::scale_columns() {
  std::vector<double> terms;
  double largest = 0.0;
  const bool centred = options_.centering == Centering::mean;
  for (const ColumnSummary& summary : matrix_.summaries()) {
    largest = std::max({largest, summary.deviation, centred ? 0.0 : std::fabs(summary.mean)});
  }
  if (options_.scaling == Scaling::none && largest > 0.0) std::frexp(largest, &exponent_);
  model_.scale_.assign(static_cast<std::size_t>(p_), 1.0);
  for (std::int64_t j = 0; j < p_; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const ColumnSummary& summary = matrix_.summaries()[at];
    double factor = std::ldexp(1.0, -exponent_);
    if (options_.scaling == Scaling::z) {
      const double deviation = summary.length / std::sqrt(static_cast<double>(std::max<std::int64_t>(n_ - 1, 1)));
      // A column is as good as constant if its spread is so small that the inverse overflows.
      const bool usable = deviation > 0.0 && std::isfinite(1.0 / deviation);
      if (usable) model_.scale_[at] = deviation;
      factor = 1.0 / model_.scale_[at];
    }
    matrix_.factor[at] = factor;
    if (!centred && !(std::fabs(summary.mean) * factor < kLargestEntry)) {
      throw Error(ErrorCode::unsupported,
                  "column '" + matrix_.name(j) + "' is constant at " + number_text(summary.mean) +
                      ": scaling it needs centring",
                  {.feature = matrix_.name(j)});
    }
    const double scaled = std::ldexp(summary.length, -exponent_) / model_.scale_[at];
    terms.push_back(scaled * scaled);
  }
  total_ = pairwise_sum(terms);
}

PcaShape PcaFit::shape() const {
  const double k = options_.n_components;
  const bool share = k > 0 && k < 1;
  return {n_, p_, k == 0 || share ? q_ : static_cast<std::int64_t>(k), share};
}

std::int64_t PcaFit::wanted_of(const std::vector<double>& values) const {
  if (!shape().share) return shape().n_wanted;
  const auto given = static_cast<std::int64_t>(values.size());
  double sum = 0.0;
  for (std::int64_t i = 0; i < given; ++i) {
    sum += std::max(values[static_cast<std::size_t>(i)], 0.0);
    if (sum > options_.n_components * total_) return i + 1;
  }
  return given == q_ ? q_ : -1;
}

Pca PcaFit::fit() {
  const RunningJob running(run_);
  const auto start = std::chrono::steady_clock::now();
  scale_columns();
  const std::int64_t budget = memory_budget(run_);
  const PcaPlan plan = plan_pca(shape(), budget, pool_.size());
  DecomposeReport& report = model_.report_;
  report.method = name_of(plan.method);
  report.method_reason = plan.reason;
  report.n_samples = n_;
  report.n_features = p_;
  report.memory_planned = plan.bytes;
  report.memory_budget = budget;
  report.threads = pool_.size();
  if (plan.method == PcaMethod::lanczos) {
    lanczos();
  } else {
    report.device_reason = device::auto_reason(run_, "GPUs take part in block Lanczos only");
    formed(plan.method);
  }
  set_signs();
  if (options_.centering == Centering::none) set_variances_of_scores();
  for (std::int64_t j = 0; j < p_; ++j) model_.names_.push_back(matrix_.name(j));
  model_.mean_ = matrix_.fill;
  model_.centering_ = options_.centering;
  model_.whiten_ = options_.whiten;
  model_.missing_ = options_.missing;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  hand_report(run_, "pca", report);
  return std::move(model_);
}

void PcaFit::formed(PcaMethod method) {
  Buffer<double> matrix(q_ * q_);
  const bool by_columns = method == PcaMethod::covariance;
  PhaseProgress progress(run_, by_columns ? "covariance" : "outer products", by_columns ? n_ : p_);
  if (method == PcaMethod::covariance) {
    const DownTheRows panel(matrix_);
    cross_product(panel, panel, n_, pool_, run_.cancel, matrix.data(), &progress);
  } else {
    const AcrossTheColumns panel(matrix_);
    cross_product(panel, panel, p_, pool_, run_.cancel, matrix.data(), &progress);
  }
  std::vector<double> values;
  decompose(matrix, values);
  const std::int64_t n_wanted = wanted_of(values);
  if (method == PcaMethod::covariance) {
    model_.components_ = Buffer<double>(n_wanted * p_);
    std::copy(matrix.data(), matrix.data() + n_wanted * p_, model_.components_.data());
  } else {
    components_from_rows(values, matrix.data(), n_wanted);
  }
  set_variances(values, n_wanted);
}

// Decomposes the matrix of the smaller side into eigenvectors: all of them, or only the wanted ones where these are
// few. Those take some passes over the matrix instead of 9 q^3.
void PcaFit::decompose(Buffer<double>& matrix, std::vector<double>& values) {
  if (few_of_many(shape())) {
    const VectorPanel panel(matrix.data(), q_, q_);
    const SymmetricMap map = [&](const double* x, double* y, std::int64_t n_vectors) {
      const VectorPanel vectors(x, n_vectors, q_);
      cross_product(vectors, panel, q_, pool_, run_.cancel, y);
    };
    const LanczosOptions options{.n_wanted = shape().n_wanted,
                                 .block = lanczos_block(),
                                 .tolerance = options_.tolerance,
                                 .max_restarts = kRestartsOfFormed,
                                 .seed = options_.seed};
    LanczosResult result = largest_eigenpairs(map, q_, options, pool_, run_.cancel);
    if (result.converged) {
      matrix = result.vectors;
      values = std::move(result.values);
      model_.report_.iterations = result.restarts;
      return;
    }
  }
  symmetric_eigen(q_, matrix.data(), values, run_.cancel, &run_);
}

// Turns left singular vectors into right ones: M^T u, which has length sigma.
void PcaFit::components_from_rows(const std::vector<double>& values, const double* vectors, std::int64_t n_wanted) {
  model_.components_ = Buffer<double>(n_wanted * p_);
  double* const out = model_.components_.data();
  const DownTheRows panel(matrix_);
  const VectorPanel left(vectors, n_wanted, n_);
  for_each_block(panel, left, n_, pool_, run_.cancel, [&](const ProductBlock& block) {
    for (std::int64_t j = 0; j < block.n_columns; ++j) {
      for (std::int64_t i = 0; i < block.n_rows; ++i) {
        out[(block.column + j) * p_ + block.row + i] = block.values[i * kBlock + j];
      }
    }
  });
  const double largest = std::max(values[0], 0.0);
  std::int64_t sound = 0;
  while (sound < n_wanted && values[static_cast<std::size_t>(sound)] > kLosesOrthogonality * largest) {
    double* const component = out + sound * p_;
    const double length = norm(component, p_);
    for (std::int64_t j = 0; j < p_; ++j) component[j] /= length;
    ++sound;
  }
  Orthogonaliser orthogonal(pool_, run_.cancel, options_.seed);
  const double negligible = 1e-14 * std::sqrt(largest);
  std::vector<double> upper(static_cast<std::size_t>(kTile * kTile));
  for (std::int64_t first = sound; first < n_wanted; first += kTile) {
    const std::int64_t n_here = std::min(kTile, n_wanted - first);
    orthogonal.project_out({out, p_}, first, n_here, nullptr);
    orthogonal.orthonormalise({out, p_}, first, n_here, negligible, upper.data());
  }
}

void PcaFit::lanczos() {
  RunOptions rest = run_;  // the operator may hold what the basis leaves
  DecomposeReport& report = model_.report_;
  const std::int64_t room = report.memory_budget - report.memory_planned, copy = copy_bytes(matrix_, room);
  report.memory_planned += copy;
  rest.memory_limit = std::max<std::int64_t>(room - copy, 1);
  // The basis is filled at least once.
  const std::int64_t k = shape().share ? std::min(q_, kFirstOfShare) : shape().n_wanted;
  const std::unique_ptr<Operator> matrix =
      make_operator(make_row_source(matrix_, copy, pool_, run_.cancel), {matrix_.shift, matrix_.factor}, rest,
                    lanczos_basis(p_, k, lanczos_block()));
  std::int64_t n_products = 0;  // how many are needed is not known
  const SymmetricMap map = [&](const double* x, double* y, std::int64_t n_vectors) {
    const auto length = static_cast<std::size_t>(n_vectors * p_);
    matrix->gram({x, length}, {y, length}, n_vectors);
    n_products += n_vectors;
    tell_progress(run_, "products", n_products, 0);
  };
  LanczosOptions options{.n_wanted = k,
                         .block = lanczos_block(),
                         .tolerance = options_.tolerance,
                         .max_restarts = options_.max_iterations,
                         .seed = options_.seed};
  for (;;) {
    LanczosResult result = largest_eigenpairs(map, p_, options, pool_, run_.cancel);
    report.products += result.products;
    report.iterations += result.restarts;
    if (!result.converged) {
      throw Error(ErrorCode::unsupported, "PCA did not converge in " + std::to_string(options.max_restarts) +
                                              " restarts: the residual is " + number_text(result.residual) +
                                              " of the largest eigenvalue, the tolerance " +
                                              number_text(options.tolerance));
    }
    const std::int64_t n_wanted = wanted_of(result.values);
    if (n_wanted < 0) {  // a share of the variance that takes more components
      options.n_wanted = std::min(2 * options.n_wanted, q_);
      const std::int64_t bytes = 8 * p_ * (lanczos_basis(p_, options.n_wanted, options.block) + options.block);
      if (bytes > report.memory_budget) {
        refuse_memory("that share of the variance takes more than " + std::to_string(options.n_wanted / 2) +
                          " components, and " + std::to_string(options.n_wanted) + " need",
                      bytes, report.memory_budget);
      }
      report.memory_planned = std::max(report.memory_planned, bytes);
      continue;
    }
    // Threads and seconds are those of the whole fit.
    const GramReport products = matrix->report();
    report.backend = products.backend;
    report.reason = products.reason;
    report.device_reason = products.device_reason;
    model_.components_ = result.vectors;
    set_variances(result.values, n_wanted);
    return;
  }
}

// Uses scikit-learn's rule since 1.5, svd_flip(u_based_decision=False). Ties go to the first, which rounding cannot
// change.
void PcaFit::set_signs() {
  for (std::int64_t i = 0; i < model_.n_components(); ++i) {
    double* const component = model_.components_.data() + i * p_;
    double largest = 0.0;
    for (std::int64_t j = 0; j < p_; ++j) largest = std::max(largest, std::fabs(component[j]));
    const double* const first =
        std::find_if(component, component + p_, [&](double v) { return std::fabs(v) >= largest * (1.0 - kSignTie); });
    if (*first >= 0.0) continue;
    for (std::int64_t j = 0; j < p_; ++j) component[j] = -component[j];
  }
}

void PcaFit::set_variances(const std::vector<double>& values, std::int64_t n_wanted) {
  const auto degrees = static_cast<double>(std::max<std::int64_t>(n_ - 1, 1));
  double kept = 0.0;
  for (std::int64_t i = 0; i < n_wanted; ++i) {
    const double value = std::max(values[static_cast<std::size_t>(i)], 0.0);
    kept += value;
    model_.explained_variance_.push_back(std::ldexp(value / degrees, 2 * exponent_));
    model_.ratio_.push_back(total_ > 0.0 ? value / total_ : 0.0);
    model_.singular_values_.push_back(std::ldexp(std::sqrt(value), exponent_));
  }
  if (n_wanted == q_ || options_.centering == Centering::none) return;
  const double rest = std::max(total_ - kept, 0.0) / static_cast<double>(q_ - n_wanted);
  model_.noise_variance_ = std::ldexp(rest / degrees, 2 * exponent_);
}

// Without centring, eigenvalues say nothing of the spread: the variances (ddof 0) are those of the scores, as in
// scikit-learn's TruncatedSVD. They come from the centred rows, so that no digits are lost far from zero.
void PcaFit::set_variances_of_scores() {
  const std::int64_t k = model_.n_components(), n_blocks = checked::ceil_div(n_, kBlock);
  matrix_.shift = matrix_.fill;
  Buffer<double> squares(checked::mul(n_blocks, k));
  model_.report_.memory_planned = std::max(model_.report_.memory_planned, 8 * squares.size());
  const AcrossTheColumns rows(matrix_);
  const VectorPanel components(model_.components_.data(), k, p_);
  for_each_block(rows, components, p_, pool_, run_.cancel, [&](const ProductBlock& block) {
    for (std::int64_t j = 0; j < block.n_columns; ++j) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < block.n_rows; ++i) {
        const double score = block.values[i * kBlock + j];
        sum += score * score;
      }
      squares[block.row / kBlock * k + block.column + j] = sum;
    }
  });
  for (std::int64_t i = 0; i < k; ++i) {
    const double sum = sum_over_rows(0, n_blocks, [&](std::int64_t block) { return squares[block * k + i]; });
    const auto at = static_cast<std::size_t>(i);
    model_.explained_variance_[at] = std::ldexp(sum / static_cast<double>(n_), 2 * exponent_);
    model_.ratio_[at] = total_ > 0.0 ? sum / total_ : 0.0;
  }
}

}  // namespace stope::gram
