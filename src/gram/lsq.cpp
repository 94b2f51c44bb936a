// Fitted linear models: predictions, and the table that they are written as (stope/lsq.hpp).
#include "stope/lsq.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "gram/array_rows.hpp"
#include "gram/lsq_fit.hpp"
#include "gram/model_table.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
const std::string kIntercept = "intercept", kAttribute = "attribute";

// The places of a table's labels; -1 stands for none.
std::vector<std::int64_t> labels_of(const Table& table) {
  std::vector<std::int64_t> labels;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].role == Role::label) labels.push_back(static_cast<std::int64_t>(j));
  }
  if (labels.empty()) labels.push_back(-1);
  return labels;
}

}  // namespace

LinearModel LinearModel::fit(const Table& table, const LsqOptions& options, const RunOptions& run) try {
  return std::move(gram::LsqFit(table, {table.find(Role::label)}, options, run).fit().front());
} catch (...) {
  rethrow_as_error();
}

std::vector<LinearModel> LinearModel::fit_each(const Table& table, const LsqOptions& options,
                                               const RunOptions& run) try {
  return gram::LsqFit(table, labels_of(table), options, run).fit();
} catch (...) {
  rethrow_as_error();
}

std::optional<std::vector<LinearModel>> LinearModel::fit_rows(const ArrayView& rows,
                                                              const std::vector<std::string>& names,
                                                              const Table& labels, const LsqOptions& options,
                                                              const RunOptions& run) try {
  if (labels.find(Role::weight) >= 0) return std::nullopt;
  const std::unique_ptr<gram::LsqFit> fit = gram::LsqFit::of_rows(rows, names, labels, labels_of(labels), options, run);
  if (fit == nullptr) return std::nullopt;
  return fit->fit();
} catch (...) {
  rethrow_as_error();
}

std::vector<double> LinearModel::predict(const Table& table, const RunOptions& run) const try {
  return predict_each({this}, table, run);
} catch (...) {
  rethrow_as_error();
}

// The coefficients of all models, which must have the same attributes, one behind the other.
std::vector<double> LinearModel::coefficients_of(const std::vector<const LinearModel*>& models) try {
  if (models.empty()) throw Error(ErrorCode::invalid_argument, "no models to predict with");
  const LinearModel& first = *models.front();
  std::vector<double> coefficients;
  for (const LinearModel* model : models) {
    if (model->names_ != first.names_ || model->missing_ != first.missing_ || model->mean_ != first.mean_) {
      throw Error(ErrorCode::invalid_argument, "these models differ in their attributes or their means");
    }
    coefficients.insert(coefficients.end(), model->coefficients_.begin(), model->coefficients_.end());
  }
  return coefficients;
} catch (...) {
  rethrow_as_error();
}

std::vector<double> LinearModel::predict_each(const std::vector<const LinearModel*>& models, const Table& table,
                                              const RunOptions& run) try {
  const std::vector<double> coefficients = coefficients_of(models);
  const LinearModel& first = *models.front();
  const auto n_models = static_cast<std::int64_t>(models.size());
  const auto n_attributes = static_cast<std::int64_t>(first.names_.size());
  ThreadPool pool(gram::threads_for_products(table.n_rows, n_attributes, n_models, run));
  gram::NumericColumns matrix = gram::matched_columns(table, first.names_, first.missing_, pool, run.cancel);
  matrix.fill = first.mean_;
  std::vector<double> predictions(static_cast<std::size_t>(checked::mul(table.n_rows, n_models)));
  const JobTime time(run);
  PhaseProgress progress(run, "predict", table.n_rows);
  const auto finish = [&](std::int64_t row, std::int64_t j, double product) {
    const LinearModel& model = *models[static_cast<std::size_t>(j)];
    predictions[static_cast<std::size_t>(row * n_models + j)] = product + model.intercept_;
  };
  if (n_models <= gram::kFewVectors) {
    const auto store = [&](std::int64_t row, std::int64_t n, std::int64_t j, const double* products) {
      for (std::int64_t i = 0; i < n; ++i) finish(row + i, j, products[i]);
    };
    gram::multiply_rows(matrix, coefficients.data(), n_models, pool, run.cancel, store, &progress);
  } else {
    const gram::AcrossTheColumns rows(matrix);
    const gram::VectorPanel vectors(coefficients.data(), n_models, n_attributes);
    const auto store = [&](const gram::ProductBlock& block) {
      for (std::int64_t i = 0; i < block.n_rows; ++i) {
        for (std::int64_t j = 0; j < block.n_columns; ++j) {
          finish(block.row + i, block.column + j, block.values[i * gram::kBlock + j]);
        }
      }
    };
    gram::for_each_block(rows, vectors, n_attributes, pool, run.cancel, store, &progress);
  }
  time.hand("predict", pool.size());
  return predictions;
} catch (...) {
  rethrow_as_error();
}

bool LinearModel::predict_rows(const std::vector<const LinearModel*>& models, const ArrayView& rows,
                               double* predictions, const RunOptions& run) try {
  const std::vector<double> coefficients = coefficients_of(models);
  const auto n_models = static_cast<std::int64_t>(models.size());
  const auto n_attributes = static_cast<std::int64_t>(models.front()->names_.size());
  gram::require_columns(rows, n_attributes);
  ThreadPool pool(gram::threads_for_products(rows.n_rows, n_attributes, n_models, run));
  const gram::RowTerms terms{std::vector<double>(models.front()->names_.size(), 0.0),
                             std::vector<double>(models.front()->names_.size(), 1.0)};
  const JobTime time(run);
  PhaseProgress progress(run, "predict", rows.n_rows);
  const auto store = [&](const gram::RowProducts& products) {
    for (std::int64_t i = 0; i < products.n_rows; ++i) {
      double* const out = predictions + (products.row + i) * n_models + products.vector;
      for (std::int64_t j = 0; j < products.n_vectors; ++j) {
        const LinearModel& model = *models[static_cast<std::size_t>(products.vector + j)];
        out[j] = products.values[i * products.stride + j] + model.intercept_;
      }
    }
  };
  if (!gram::multiply_array_rows(rows, terms, coefficients.data(), n_models, pool, run.cancel, store, &progress)) {
    return false;
  }
  time.hand("predict", pool.size());
  return true;
} catch (...) {
  rethrow_as_error();
}

std::vector<double> LinearModel::contributions(const Table& table, const RunOptions& run) const try {
  const auto width = static_cast<std::int64_t>(names_.size());
  const std::int64_t n_values = checked::mul(table.n_rows, width);
  require_memory("the contributions of " + std::to_string(width) + " features to " + std::to_string(table.n_rows) +
                     " predictions need",
                 checked::mul(n_values, sizeof(double)), run);
  ThreadPool pool(gram::threads_for_products(table.n_rows, width, 1, run));
  gram::NumericColumns matrix = gram::matched_columns(table, names_, missing_, pool, run.cancel);
  matrix.fill = mean_;
  std::vector<double> all(static_cast<std::size_t>(n_values));
  constexpr std::int64_t kRows = 256;
  pool.parallel_for(checked::ceil_div(table.n_rows, kRows), run.cancel, [&](std::int64_t task, int) {
    const std::int64_t begin = task * kRows, end = std::min(begin + kRows, table.n_rows);
    double* const out = all.data() + begin * width;
    matrix.write_values({0, width, begin, end}, out, width);
    for (std::int64_t row = 0; row < end - begin; ++row) {
      for (std::int64_t j = 0; j < width; ++j) out[row * width + j] *= coefficients_[static_cast<std::size_t>(j)];
    }
  });
  return all;
} catch (...) {
  rethrow_as_error();
}

Table LinearModel::to_table() const try {
  std::vector<const std::string*> kinds = {&kIntercept}, words = {nullptr};
  std::vector<double> coefficients = {intercept_}, means = {kNothing}, errors = {intercept_standard_error_};
  for (std::size_t j = 0; j < names_.size(); ++j) {
    kinds.push_back(&kAttribute);
    words.push_back(&names_[j]);
    coefficients.push_back(coefficients_[j]);
    means.push_back(mean_[j]);
    if (!standard_errors_.empty()) errors.push_back(standard_errors_[j]);
  }
  Table table;
  table.n_rows = static_cast<std::int64_t>(kinds.size());
  table.columns = {gram::word_column("kind", kinds), gram::word_column("name", words),
                   make_numeric("coefficient", coefficients), make_numeric("mean", means)};
  if (!standard_errors_.empty()) table.columns.push_back(make_numeric("standard_error", errors));
  return table;
} catch (...) {
  rethrow_as_error();
}

LinearModel LinearModel::from_table(const Table& table, MissingValues missing, const LinearFit& fit) try {
  gram::ModelReader reader(table);
  const Column& kinds = reader.words("kind");
  const Column& coefficients = reader.numbers("coefficient");
  const Column& means = reader.numbers("mean");
  LinearModel model;
  model.missing_ = missing;
  model.report_.n_samples = fit.n_samples;
  model.rank_ = fit.rank;
  model.rss_ = fit.residual_sum_of_squares;
  model.r2_ = fit.r2;
  const Column* const errors = table.find("standard_error") < 0 ? nullptr : &reader.numbers("standard_error");
  bool has_intercept = false;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::string& kind = reader.word(kinds, row);
    if (kind == kIntercept) {
      if (has_intercept) reader.fail("two rows of the kind 'intercept'");
      has_intercept = true;
      model.intercept_ = reader.number(coefficients, row);
      if (errors != nullptr) model.intercept_standard_error_ = errors->at(row);
    } else if (kind == kAttribute) {
      model.names_.push_back(reader.name(reader.words("name"), row));
      model.coefficients_.push_back(reader.number(coefficients, row));
      model.mean_.push_back(reader.number(means, row));
      if (errors != nullptr) model.standard_errors_.push_back(errors->at(row));
    } else {
      reader.fail("row " + std::to_string(row) + ": unknown kind '" + kind + "'");
    }
  }
  if (!has_intercept) reader.fail("no row of the kind 'intercept'");
  if (model.names_.empty()) reader.fail("no row of the kind 'attribute'");
  return model;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
