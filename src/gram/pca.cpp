// Fitted components: scores of other tables, and the table that they are written as (stope/pca.hpp).
#include "stope/pca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/huge_pages.hpp"
#include "base/progress.hpp"
#include "base/report.hpp"
#include "gram/array_rows.hpp"
#include "gram/model_table.hpp"
#include "gram/pca_fit.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"
#include "table/column_error.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();  // an empty cell of the table of components

const std::string kVariance = "explained_variance", kRatio = "explained_variance_ratio", kSingular = "singular_value",
                  kNoise = "noise_variance", kAttribute = "attribute";
// The column of means. Its name says whether they are subtracted, or only stand in for missing values.
const std::string kMean = "mean", kFill = "fill";

std::string component_name(std::int64_t i) {
  return "pc" + std::to_string(i + 1);
}

// What scores are divided by.
std::vector<double> divisors_of(const std::vector<double>& variances, bool whiten) {
  std::vector<double> divisors(variances.size(), 1.0);
  for (std::size_t i = 0; whiten && i < divisors.size(); ++i) {
    divisors[i] = std::max(std::sqrt(variances[i]), std::numeric_limits<double>::epsilon());
  }
  return divisors;
}

}  // namespace

Pca Pca::fit(const Table& table, const PcaOptions& options, const RunOptions& run) try {
  return gram::PcaFit(table, options, run).fit();
} catch (...) {
  rethrow_as_error();
}

std::optional<Pca> Pca::fit_rows(const ArrayView& rows, const std::vector<std::string>& names,
                                 const PcaOptions& options, const RunOptions& run) try {
  const std::unique_ptr<gram::PcaFit> fit = gram::PcaFit::of_rows(rows, names, options, run);
  if (fit == nullptr) return std::nullopt;
  return fit->fit();
} catch (...) {
  rethrow_as_error();
}

Table Pca::transform(const Table& table, const RunOptions& run) const try {
  ThreadPool pool(gram::threads_for_products(table.n_rows, n_features(), n_components(), run));
  gram::NumericColumns matrix = gram::matched_columns(table, names_, missing_, pool, run.cancel);
  matrix.fill = mean_;
  if (centering_ == Centering::mean) matrix.shift = mean_;
  for (std::int64_t j = 0; j < n_features(); ++j) {
    matrix.factor[static_cast<std::size_t>(j)] = 1.0 / scale_[static_cast<std::size_t>(j)];
  }
  const std::int64_t row_bytes = checked::mul(8, n_components());
  ColumnMemory memory(storage_within(checked::mul(table.n_rows, row_bytes), memory_budget(run)), table.n_rows,
                      n_components(), row_bytes);
  std::vector<Buffer<double>> scores;
  scores.reserve(explained_variance_.size());
  for (std::int64_t i = 0; i < n_components(); ++i) scores.push_back(memory.take<double>());
  const std::vector<double> divisors = divisors_of(explained_variance_, whiten_);
  const JobTime time(run);
  PhaseProgress progress(run, "transform", table.n_rows);
  const auto store = [&](std::int64_t row, std::int64_t n, std::int64_t component, const double* products,
                         std::int64_t stride) {
    const auto at = static_cast<std::size_t>(component);
    double* const out = scores[at].data() + row;
    if (divisors[at] == 1.0) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = products[i * stride];
    } else {
      for (std::int64_t i = 0; i < n; ++i) out[i] = products[i * stride] / divisors[at];
    }
  };
  if (n_components() <= gram::kFewVectors) {
    gram::multiply_rows(
        matrix, components_.data(), n_components(), pool, run.cancel,
        [&](std::int64_t row, std::int64_t n, std::int64_t i, const double* products) {
          store(row, n, i, products, 1);
        },
        &progress);
  } else {
    const gram::AcrossTheColumns rows(matrix);
    const gram::VectorPanel components(components_.data(), n_components(), n_features());
    gram::for_each_block(
        rows, components, n_features(), pool, run.cancel,
        [&](const gram::ProductBlock& block) {
          for (std::int64_t j = 0; j < block.n_columns; ++j) {
            store(block.row, block.n_rows, block.column + j, block.values + j, gram::kBlock);
          }
        },
        &progress);
  }

  Table result;
  result.n_rows = table.n_rows;
  result.source = table.source;
  for (std::int64_t i = 0; i < n_components(); ++i) {
    result.columns.push_back(
        {component_name(i), ValueType::real, Role::regular, std::move(scores[static_cast<std::size_t>(i)]), {}});
  }
  for (const Column& column : table.columns) {
    if (column.role == Role::regular || column.role == Role::ignore) continue;
    if (result.find(column.name) >= 0) {
      throw column_error(ErrorCode::invalid_data, table, column, " has the name of a component");
    }
    result.columns.push_back(column);
  }
  time.hand("transform", pool.size());
  return result;
} catch (...) {
  rethrow_as_error();
}

template <class T>
bool Pca::transform_rows_to(const ArrayView& rows, T* scores, const RunOptions& run) const try {
  gram::require_columns(rows, n_features());
  ThreadPool pool(gram::threads_for_products(rows.n_rows, n_features(), n_components(), run));
  gram::RowTerms terms{std::vector<double>(mean_.size(), 0.0), {}};
  if (centering_ == Centering::mean) terms.minus = mean_;
  terms.times.reserve(scale_.size());
  for (const double scale : scale_) terms.times.push_back(1.0 / scale);
  const std::vector<double> divisors = divisors_of(explained_variance_, whiten_);
  prefer_huge_pages(scores, static_cast<std::size_t>(checked::mul(rows.n_rows, n_components())) * sizeof(T));
  const JobTime time(run);
  PhaseProgress progress(run, "transform", rows.n_rows);
  const auto store = [&](const gram::RowProducts& products) {
    for (std::int64_t i = 0; i < products.n_rows; ++i) {
      T* const out = scores + (products.row + i) * n_components() + products.vector;
      const double* const from = products.values + i * products.stride;
      const double* const by = divisors.data() + products.vector;
      if (whiten_) {
        for (std::int64_t j = 0; j < products.n_vectors; ++j) out[j] = static_cast<T>(from[j] / by[j]);
      } else {
        for (std::int64_t j = 0; j < products.n_vectors; ++j) out[j] = static_cast<T>(from[j]);
      }
    }
  };
  if (!gram::multiply_array_rows(rows, terms, components_.data(), n_components(), pool, run.cancel, store, &progress)) {
    return false;
  }
  time.hand("transform", pool.size());
  return true;
} catch (...) {
  rethrow_as_error();
}

bool Pca::transform_rows(const ArrayView& rows, double* scores, const RunOptions& run) const try {
  return transform_rows_to(rows, scores, run);
} catch (...) {
  rethrow_as_error();
}

bool Pca::transform_rows(const ArrayView& rows, float* scores, const RunOptions& run) const try {
  return transform_rows_to(rows, scores, run);
} catch (...) {
  rethrow_as_error();
}

Table Pca::to_table() const try {
  const std::int64_t k = n_components(), p = n_features();
  std::vector<const std::string*> kinds = {&kVariance, &kRatio, &kSingular, &kNoise};
  std::vector<const std::string*> words(kinds.size(), nullptr);
  std::vector<double> means(kinds.size(), kNothing), scales(kinds.size(), kNothing);
  for (std::int64_t j = 0; j < p; ++j) {
    const auto at = static_cast<std::size_t>(j);
    kinds.push_back(&kAttribute);
    words.push_back(&names_[at]);
    means.push_back(mean_[at]);
    scales.push_back(scale_[at]);
  }
  Table table;
  table.n_rows = p + 4;
  table.columns = {gram::word_column("kind", kinds), gram::word_column("name", words),
                   make_numeric(centering_ == Centering::mean ? kMean : kFill, means), make_numeric("scale", scales)};
  for (std::int64_t i = 0; i < k; ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::vector<double> values = {explained_variance_[at], ratio_[at], singular_values_[at],
                                  i == 0 ? noise_variance_ : kNothing};
    values.insert(values.end(), components_.data() + i * p, components_.data() + (i + 1) * p);
    table.columns.push_back(make_numeric(component_name(i), values));
  }
  return table;
} catch (...) {
  rethrow_as_error();
}

Pca Pca::from_table(const Table& table, const PcaOptions& options, std::int64_t n_samples) try {
  gram::ModelReader reader(table);
  const Column& kinds = reader.words("kind");
  const Column& names = reader.words("name");
  const Centering centering = table.find(kFill) >= 0 ? Centering::none : Centering::mean;
  const Column& means = reader.numbers(centering == Centering::mean ? kMean : kFill);
  const Column& scales = reader.numbers("scale");
  std::vector<const Column*> columns;
  std::unordered_map<std::string_view, const Column*> by_name;
  for (const Column& column : table.columns) by_name.emplace(column.name, &column);
  for (;;) {
    const auto found = by_name.find(component_name(static_cast<std::int64_t>(columns.size())));
    if (found == by_name.end()) break;
    reader.check_numbers(*found->second);
    columns.push_back(found->second);
  }
  if (columns.empty()) reader.fail("no column 'pc1': this is not a file of components");

  Pca model;
  model.whiten_ = options.whiten;
  model.centering_ = centering;
  if (model.whiten_ && centering == Centering::none) {
    throw Error(ErrorCode::invalid_argument, "whiten needs centring", {.option = "whiten"});
  }
  model.missing_ = options.missing;
  model.report_.n_samples = n_samples;
  std::vector<std::int64_t> rows;  // rows of the attributes
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::string& kind = reader.word(kinds, row);
    std::vector<double>* to = nullptr;
    if (kind == kAttribute) {
      rows.push_back(row);
      model.names_.push_back(reader.name(names, row));
      model.mean_.push_back(reader.number(means, row));
      model.scale_.push_back(reader.number(scales, row));
      if (model.scale_.back() == 0.0) reader.fail("row " + std::to_string(row) + ": a scale of 0");
    } else if (kind == kVariance) {
      to = &model.explained_variance_;
    } else if (kind == kRatio) {
      to = &model.ratio_;
    } else if (kind == kSingular) {
      to = &model.singular_values_;
    } else if (kind == kNoise) {
      model.noise_variance_ = reader.number(*columns[0], row);
    } else {
      reader.fail("row " + std::to_string(row) + ": unknown kind '" + kind + "'");
    }
    if (to == nullptr) continue;
    if (!to->empty()) reader.fail("two rows of the kind '" + kind + "'");
    for (const Column* column : columns) to->push_back(reader.number(*column, row));
  }
  for (const auto* part : {&model.explained_variance_, &model.ratio_, &model.singular_values_}) {
    if (part->empty())
      reader.fail("the rows explained_variance, explained_variance_ratio and singular_value are needed");
  }
  if (rows.empty()) reader.fail("no row of the kind 'attribute'");
  const std::int64_t p = model.n_features();
  model.components_ = Buffer<double>(checked::mul(p, model.n_components()));
  for (std::int64_t i = 0; i < model.n_components(); ++i) {
    for (std::int64_t j = 0; j < p; ++j) {
      model.components_[i * p + j] =
          reader.number(*columns[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]);
    }
  }
  return model;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
