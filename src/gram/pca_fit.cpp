#include "gram/pca_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/number_text.hpp"
#include "base/reduce.hpp"
#include "device/auto_gpu.hpp"
#include "gram/block_lanczos.hpp"
#include "gram/dense.hpp"
#include "gram/operator.hpp"
#include "gram/orthogonal.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"

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
  std::vector<std::int64_t> features = table.features();
  const std::string source = table.source.empty() ? "" : table.source + ": ";
  if (nominal == NominalFeatures::skip) {
    std::erase_if(features, [&](std::int64_t j) { return table.columns[static_cast<std::size_t>(j)].nominal(); });
  }
  if (features.empty()) throw Error(ErrorCode::invalid_file, source + "no numeric features");
  if (table.n_rows == 0) throw Error(ErrorCode::invalid_file, source + "no rows");
  return features;
}

PcaFit::PcaFit(const Table& table, const PcaOptions& options, const RunOptions& run)
    : options_(options), run_(run), pool_(run.threads) {
  const std::vector<std::int64_t> features = numeric_features(table, options.nominal);
  n_ = table.n_rows;
  p_ = static_cast<std::int64_t>(features.size());
  q_ = std::min(n_, p_);
  check_n_components();
  matrix_ = NumericColumns(table, features, options.missing, {}, NumericColumns::Summaries::yes, pool_, run.cancel);
}

void PcaFit::check_n_components() const {
  const double k = options_.n_components;
  if (k >= 0 && (k < 1 || (k == std::floor(k) && k <= static_cast<double>(q_)))) return;
  throw Error(ErrorCode::invalid_argument,
              "n_components " + number_text(k) + ": a whole number from 1 to " + std::to_string(q_) +
                  " (the smaller of rows and features), or a share of the variance between 0 and 1");
}

// Sets the factors of the centred columns: a common power of two, or the inverse standard deviation.
void PcaFit::scale_columns() {
  std::vector<double> terms;
  double largest = 0.0;
  for (const ColumnSummary& summary : matrix_.summaries()) largest = std::max(largest, summary.deviation);
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
  for (std::int64_t j = 0; j < p_; ++j) model_.names_.push_back(matrix_.column(j).name);
  model_.mean_ = matrix_.shift;
  model_.whiten_ = options_.whiten;
  model_.missing_ = options_.missing;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return std::move(model_);
}

void PcaFit::formed(PcaMethod method) {
  Buffer<double> matrix(q_ * q_);
  if (method == PcaMethod::covariance) {
    const DownTheRows panel(matrix_);
    cross_product(panel, panel, n_, pool_, run_.cancel, matrix.data());
  } else {
    const AcrossTheColumns panel(matrix_);
    cross_product(panel, panel, p_, pool_, run_.cancel, matrix.data());
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
  symmetric_eigen(q_, matrix.data(), values);
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
      make_operator(make_row_source(matrix_, room, pool_, run_.cancel), {matrix_.shift, matrix_.factor}, rest,
                    lanczos_basis(p_, k, lanczos_block()));
  const SymmetricMap map = [&](const double* x, double* y, std::int64_t n_vectors) {
    const auto length = static_cast<std::size_t>(n_vectors * p_);
    matrix->gram({x, length}, {y, length}, n_vectors);
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
        throw Error(ErrorCode::out_of_memory,
                    "that share of the variance takes more than " + std::to_string(options.n_wanted / 2) +
                        " components, and " + std::to_string(options.n_wanted) + " need " + std::to_string(bytes) +
                        " bytes: the memory budget is " + std::to_string(report.memory_budget));
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
  if (n_wanted == q_) return;
  const double rest = std::max(total_ - kept, 0.0) / static_cast<double>(q_ - n_wanted);
  model_.noise_variance_ = std::ldexp(rest / degrees, 2 * exponent_);
}

}  // namespace stope::gram
