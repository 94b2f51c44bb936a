// Fitted components: scores of other tables, and the table that they are written as (stope/pca.hpp).
#include "stope/pca.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "gram/model_table.hpp"
#include "gram/pca_fit.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();  // an empty cell of the table of components

const std::string kVariance = "explained_variance", kRatio = "explained_variance_ratio", kSingular = "singular_value",
                  kNoise = "noise_variance", kAttribute = "attribute";

std::string component_name(std::int64_t i) {
  return "pc" + std::to_string(i + 1);
}

}  // namespace

Pca Pca::fit(const Table& table, const PcaOptions& options, const RunOptions& run) {
  return gram::PcaFit(table, options, run).fit();
}

Table Pca::transform(const Table& table, const RunOptions& run) const {
  ThreadPool pool(run.threads);
  gram::NumericColumns matrix = gram::matched_columns(table, names_, missing_, pool, run.cancel);
  matrix.shift = matrix.fill = mean_;
  for (std::int64_t j = 0; j < n_features(); ++j) {
    matrix.factor[static_cast<std::size_t>(j)] = 1.0 / scale_[static_cast<std::size_t>(j)];
  }
  const std::int64_t row_bytes = checked::mul(8, n_components());
  ColumnMemory memory(storage_within(checked::mul(table.n_rows, row_bytes), memory_budget(run)), table.n_rows,
                      n_components(), row_bytes);
  std::vector<Buffer<double>> scores;
  std::vector<double> divisors;
  for (std::int64_t i = 0; i < n_components(); ++i) {
    scores.push_back(memory.take<double>());
    const double deviation = std::sqrt(explained_variance_[static_cast<std::size_t>(i)]);
    divisors.push_back(whiten_ ? std::max(deviation, std::numeric_limits<double>::epsilon()) : 1.0);
  }
  const gram::AcrossTheColumns rows(matrix);
  const gram::VectorPanel components(components_.data(), n_components(), n_features());
  gram::for_each_block(rows, components, n_features(), pool, run.cancel, [&](const gram::ProductBlock& block) {
    for (std::int64_t j = 0; j < block.n_columns; ++j) {
      const auto at = static_cast<std::size_t>(block.column + j);
      double* const out = scores[at].data() + block.row;
      for (std::int64_t i = 0; i < block.n_rows; ++i) out[i] = block.values[i * gram::kBlock + j] / divisors[at];
    }
  });

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
      throw Error(ErrorCode::invalid_file, gram::column_place(table, column) + " has the name of a component");
    }
    result.columns.push_back(column);
  }
  return result;
}

Table Pca::to_table() const {
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
  table.columns = {gram::word_column("kind", kinds), gram::word_column("name", words), make_numeric("mean", means),
                   make_numeric("scale", scales)};
  for (std::int64_t i = 0; i < k; ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::vector<double> values = {explained_variance_[at], ratio_[at], singular_values_[at],
                                  i == 0 ? noise_variance_ : kNothing};
    values.insert(values.end(), components_.data() + i * p, components_.data() + (i + 1) * p);
    table.columns.push_back(make_numeric(component_name(i), values));
  }
  return table;
}

Pca Pca::from_table(const Table& table, const PcaOptions& options) {
  const gram::ModelReader reader(table);
  const Column& kinds = reader.words("kind");
  const Column& names = reader.words("name");
  const Column& means = reader.numbers("mean");
  const Column& scales = reader.numbers("scale");
  std::vector<const Column*> columns;
  while (table.find(component_name(static_cast<std::int64_t>(columns.size()))) >= 0) {
    columns.push_back(&reader.numbers(component_name(static_cast<std::int64_t>(columns.size()))));
  }
  if (columns.empty()) reader.fail("no column 'pc1': this is not a file of components");

  Pca model;
  model.whiten_ = options.whiten;
  model.missing_ = options.missing;
  std::vector<std::int64_t> rows;  // rows of the attributes
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::string& kind = reader.word(kinds, row);
    std::vector<double>* to = nullptr;
    if (kind == kAttribute) {
      rows.push_back(row);
      model.names_.push_back(reader.word(names, row));
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
}

}  // namespace stope
