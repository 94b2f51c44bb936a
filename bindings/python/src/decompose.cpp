#include "decompose.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/lsq.hpp"
#include "stope/model.hpp"
#include "stope/pca.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using Targets = nb::ndarray<const double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;
using RowWeights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A fitted model, and the columns of the table that it was fitted to, without rows. Those of an array are all alike,
// and made when somebody asks for them.
template <class Fitted>
struct Outlined {
  Table columns;
  Fitted fitted;
  std::string label = {};   // an array's: the label's name; empty: none
  bool is_float32 = false;  // an array's

  Table outlined() const {
    if (!columns.columns.empty()) return columns;
    Table made;
    for (const std::string& name : fitted.feature_names()) {
      made.columns.push_back(is_float32 ? column_of(name, Buffer<float>()) : column_of(name, Buffer<double>()));
    }
    if (label.empty()) return made;
    made.columns.push_back(column_of(label, Buffer<double>()));
    made.columns.back().role = Role::label;
    return made;
  }
};
using FittedPca = Outlined<Pca>;
using FittedLinear = Outlined<LinearModel>;

// Products of a table and a model that take no longer than some milliseconds.
Duration duration_of(std::int64_t n_rows, std::int64_t n_columns) {
  constexpr std::int64_t kFew = 1'000'000;
  return n_rows < kFew && n_columns < kFew && n_rows * n_columns < kFew ? Duration::brief : Duration::any;
}

// The table with the names of the training columns. The caller has compared the names; here columns count by place.
Table renamed(const Table& table, const std::vector<std::string>& names) {
  if (table.columns.size() != names.size()) {
    throw Error(ErrorCode::invalid_data, "the rows have " + std::to_string(table.columns.size()) +
                                             " columns; the model was fitted with " + std::to_string(names.size()));
  }
  Table result = table;
  for (std::size_t j = 0; j < names.size(); ++j) result.columns[j].name = names[j];
  return result;
}

// The bytes of the model file of that model, and back.
template <class Fitted>
nb::bytes to_bytes(const Outlined<Fitted>& model) {
  std::string bytes;
  write_model([&](std::string_view piece) { bytes.append(piece); }, Model{model.outlined(), model.fitted});
  return nb::bytes(bytes.data(), bytes.size());
}

template <class Fitted>
Outlined<Fitted> of_bytes(const nb::bytes& bytes) {
  Model model = read_model(ModelBytes{{bytes.c_str(), bytes.size()}});
  auto* fitted = std::get_if<Fitted>(&model.fitted);
  if (fitted == nullptr) throw Error(ErrorCode::invalid_data, "these bytes are a model of another kind");
  return {std::move(model.columns), std::move(*fitted)};
}

nb::object numbers(const std::vector<double>& values) {
  return array_of(values);
}

// The columns of scores side by side in one row-major array. 64 rows of all columns at a time stay in the cache.
template <class T>
std::vector<T> by_rows(const Table& scores, std::int64_t n_components) {
  constexpr std::int64_t kRows = 64;
  std::vector<T> values(static_cast<std::size_t>(scores.n_rows * n_components));
  for (std::int64_t first = 0; first < scores.n_rows; first += kRows) {
    const std::int64_t end = std::min(first + kRows, scores.n_rows);
    for (std::int64_t i = 0; i < n_components; ++i) {
      const auto& column = std::get<Buffer<double>>(scores.columns[static_cast<std::size_t>(i)].data);
      T* const out = values.data() + i;
      for (std::int64_t row = first; row < end; ++row) out[row * n_components] = static_cast<T>(column[row]);
    }
  }
  return values;
}

template <class T>
nb::object scores_of(const FittedPca& model, const Table& table, Run& run) {
  const std::int64_t k = model.fitted.n_components();
  std::vector<T> values = result_of(
      run,
      [&](const RunOptions& options) {
        const Table scores = model.fitted.transform(renamed(table, model.fitted.feature_names()), options);
        return by_rows<T>(scores, k);
      },
      duration_of(table.n_rows, model.fitted.n_features() * k));
  return array_of(std::move(values), {static_cast<std::size_t>(table.n_rows), static_cast<std::size_t>(k)});
}

// The scores of an array's rows, or None where they take a table.
template <class T>
nb::object scores_of_rows(const FittedPca& model, const AnyArray& array, Run& run) {
  const std::int64_t k = model.fitted.n_components();
  const ArrayView rows = view_of(array);
  auto values = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(rows.n_rows * k));
  const bool done = result_of(
      run, [&](const RunOptions& options) { return model.fitted.transform_rows(rows, values.get(), options); },
      duration_of(rows.n_rows, model.fitted.n_features() * k));
  if (!done) return nb::none();
  T* const data = values.get();
  return array_over(data, {static_cast<std::size_t>(rows.n_rows), static_cast<std::size_t>(k)}, std::move(values));
}

PcaOptions pca_options(double n_components, bool whiten, std::string_view centering_name, std::string_view scaling_name,
                       std::string_view missing_name, double tolerance, std::uint64_t seed) {
  PcaOptions how;
  how.n_components = n_components;
  how.whiten = whiten;
  how.centering = centering(centering_name);
  how.scaling = scaling(scaling_name);
  how.missing = missing_values(missing_name);
  if (tolerance > 0.0) how.tolerance = tolerance;
  how.seed = seed;
  return how;
}

// Fits that take no longer than some milliseconds.
Duration duration_of_fit(std::int64_t n_rows, std::int64_t n_columns) {
  constexpr std::int64_t kFewColumns = 64;
  return std::min(n_rows, n_columns) <= kFewColumns ? duration_of(n_rows, n_columns) : Duration::any;
}

FittedPca fit_pca(const Table& table, const PcaOptions& how, Run& run) {
  return result_of(
      run, [&](const RunOptions& options) { return FittedPca{outline(table), Pca::fit(table, how, options)}; },
      duration_of_fit(table.n_rows, static_cast<std::int64_t>(table.columns.size())));
}

// The fit of an array's rows, or None where they take a table. No names stand for x0, x1, ...
nb::object fit_pca_rows(const AnyArray& array, const std::vector<std::string>& names, const PcaOptions& how, Run& run) {
  const ArrayView rows = view_of(array);
  std::optional<Pca> fitted = result_of(
      run, [&](const RunOptions& options) { return Pca::fit_rows(rows, names, how, options); },
      duration_of_fit(rows.n_rows, rows.n_columns));
  if (!fitted) return nb::none();
  return nb::cast(FittedPca{{}, std::move(*fitted), {}, rows.type == ElementType::float32});
}

// A name that no column of the table has, nor any of the others.
std::string new_name(const Table& table, std::string name, const std::vector<std::string>& others = {}) {
  while (table.find(name) >= 0 || std::find(others.begin(), others.end(), name) != others.end()) name += '_';
  return name;
}

// Adds a column that lies in the caller's memory as long as the job runs.
void add_column(Table& table, const std::string& name, const double* values, Role role,
                const std::vector<std::string>& others = {}) {
  auto* data = const_cast<double*>(values);  // NOLINT: a buffer is not written once it is filled
  Column column = column_of(new_name(table, name, others), Buffer<double>::borrow(data, table.n_rows, nullptr));
  column.role = role;
  table.columns.push_back(std::move(column));
}

// Adds those targets as labels.
void add_targets(Table& table, const Targets& targets, const std::vector<std::int64_t>& chosen,
                 const std::vector<std::string>& others = {}) {
  for (const std::int64_t target : chosen) {
    const std::string name = targets.shape(1) == 1 ? "target" : "target" + std::to_string(target);
    add_column(table, name, targets.data() + target * table.n_rows, Role::label, others);
  }
}

// The targets of one alpha are fitted together, which sums up and decomposes the features once.
void fit_targets(const Table& rows, const Targets& targets, const std::vector<std::int64_t>& chosen,
                 const LsqOptions& how, const RunOptions& options, std::vector<FittedLinear>& models) {
  Table table = rows;
  add_targets(table, targets, chosen);
  std::vector<LinearModel> fitted = LinearModel::fit_each(table, how, options);
  const Table columns = outline(table);
  const auto n_shared = static_cast<std::ptrdiff_t>(rows.columns.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    Table own;
    own.columns.assign(columns.columns.begin(), columns.columns.begin() + n_shared);
    own.columns.push_back(columns.columns[rows.columns.size() + i]);
    models[static_cast<std::size_t>(chosen[i])] = {std::move(own), std::move(fitted[i])};
  }
}

std::map<double, std::vector<std::int64_t>> targets_by_alpha(const std::vector<double>& alphas) {
  std::map<double, std::vector<std::int64_t>> by_alpha;
  for (std::size_t i = 0; i < alphas.size(); ++i) by_alpha[alphas[i]].push_back(static_cast<std::int64_t>(i));
  return by_alpha;
}

std::vector<FittedLinear> fit_linear(const Table& features, const Targets& targets,
                                     const std::optional<RowWeights>& weights, const std::vector<double>& alphas,
                                     bool fit_intercept, bool standard_errors, std::string_view missing_name,
                                     std::int64_t max_iterations, Run& run) {
  const auto n_targets = static_cast<std::int64_t>(targets.shape(1));
  if (static_cast<std::int64_t>(targets.shape(0)) != features.n_rows ||
      (weights && static_cast<std::int64_t>(weights->shape(0)) != features.n_rows) ||
      static_cast<std::int64_t>(alphas.size()) != n_targets) {
    throw Error(ErrorCode::invalid_argument, "features, targets, weights and alphas differ in length");
  }
  LsqOptions how;
  how.fit_intercept = fit_intercept;
  how.standard_errors = standard_errors;
  how.missing = missing_values(missing_name);
  how.max_iterations = max_iterations;
  Table rows = features;
  if (weights) add_column(rows, "weight", weights->data(), Role::weight);
  const auto fit = [&](const RunOptions& options) {
    std::vector<FittedLinear> models(alphas.size());
    for (const auto& [alpha, chosen] : targets_by_alpha(alphas)) {
      how.alpha = alpha;
      fit_targets(rows, targets, chosen, how, options, models);
    }
    return models;
  };
  return result_of(run, fit, duration_of_fit(features.n_rows, static_cast<std::int64_t>(features.columns.size())));
}

// The fits of an array's rows, or None where they take a table. No names stand for x0, x1, ...
nb::object fit_linear_rows(const AnyArray& array, const std::vector<std::string>& names, const Targets& targets,
                           const std::vector<double>& alphas, bool fit_intercept, bool standard_errors,
                           std::int64_t max_iterations, Run& run) {
  const ArrayView rows = view_of(array);
  if (static_cast<std::int64_t>(targets.shape(0)) != rows.n_rows || alphas.size() != targets.shape(1)) {
    throw Error(ErrorCode::invalid_argument, "features, targets and alphas differ in length");
  }
  LsqOptions how;
  how.fit_intercept = fit_intercept;
  how.standard_errors = standard_errors;
  how.max_iterations = max_iterations;
  const auto fit = [&](const RunOptions& options) {
    std::vector<FittedLinear> models(alphas.size());
    for (const auto& [alpha, chosen] : targets_by_alpha(alphas)) {
      Table labels;
      labels.n_rows = rows.n_rows;
      add_targets(labels, targets, chosen, names);
      how.alpha = alpha;
      std::optional<std::vector<LinearModel>> fitted = LinearModel::fit_rows(rows, names, labels, how, options);
      if (!fitted) return std::vector<FittedLinear>();
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        models[static_cast<std::size_t>(chosen[i])] = {
            {}, std::move((*fitted)[i]), labels.columns[i].name, rows.type == ElementType::float32};
      }
    }
    return models;
  };
  std::vector<FittedLinear> models = result_of(run, fit, duration_of_fit(rows.n_rows, rows.n_columns));
  if (models.empty()) return nb::none();
  return nb::cast(std::move(models));
}

nb::object predict_linear(const std::vector<const FittedLinear*>& models, const Table& table, Run& run) {
  std::vector<const LinearModel*> fitted;
  for (const FittedLinear* model : models) {
    if (model == nullptr) throw Error(ErrorCode::invalid_argument, "None is no model to predict with");
    fitted.push_back(&model->fitted);
  }
  const std::size_t n_models = models.size();
  std::vector<double> values = result_of(
      run,
      [&](const RunOptions& options) {
        if (fitted.empty()) return LinearModel::predict_each(fitted, table, options);  // which refuses that
        return LinearModel::predict_each(fitted, renamed(table, fitted.front()->feature_names()), options);
      },
      duration_of(table.n_rows, static_cast<std::int64_t>(table.columns.size() * std::max<std::size_t>(n_models, 1))));
  return array_of(std::move(values), {static_cast<std::size_t>(table.n_rows), n_models});
}

// The predictions for an array's rows, or None where they take a table.
nb::object predict_linear_rows(const std::vector<const FittedLinear*>& models, const AnyArray& array, Run& run) {
  std::vector<const LinearModel*> fitted;
  for (const FittedLinear* model : models) {
    if (model == nullptr) throw Error(ErrorCode::invalid_argument, "None is no model to predict with");
    fitted.push_back(&model->fitted);
  }
  const ArrayView rows = view_of(array);
  const auto n_models = static_cast<std::int64_t>(models.size());
  std::vector<double> values(static_cast<std::size_t>(rows.n_rows * n_models));
  const bool done = result_of(
      run, [&](const RunOptions& options) { return LinearModel::predict_rows(fitted, rows, values.data(), options); },
      duration_of(rows.n_rows, rows.n_columns * std::max<std::int64_t>(n_models, 1)));
  if (!done) return nb::none();
  return array_of(std::move(values), {static_cast<std::size_t>(rows.n_rows), models.size()});
}

// What both kinds of models have: pickling, and their bytes.
template <class Fitted, class Class>
void bind_bytes(Class& bound) {
  bound.def("to_bytes", &to_bytes<Fitted>)
      .def_static("of_bytes", &of_bytes<Fitted>, nb::arg("bytes"))
      .def("__getstate__", &to_bytes<Fitted>)
      .def("__setstate__", [](Outlined<Fitted>& self, const nb::bytes& bytes) {
        new (&self) Outlined<Fitted>(of_bytes<Fitted>(bytes));
      });
}

void bind_pca(nb::module_& module) {
  nb::class_<FittedPca> bound(module, "Pca", "Fitted principal components.");
  bound
      .def_static(
          "fit",
          [](const Table& table, double n_components, bool whiten, std::string_view centering, std::string_view scaling,
             std::string_view missing, double tolerance, std::uint64_t seed, Run& run) {
            return fit_pca(table, pca_options(n_components, whiten, centering, scaling, missing, tolerance, seed), run);
          },
          nb::arg("table"), nb::arg("n_components") = 0.0, nb::arg("whiten") = false, nb::arg("centering") = "mean",
          nb::arg("scaling") = "none", nb::arg("missing") = "error", nb::arg("tolerance") = 0.0, nb::arg("seed") = 0,
          nb::arg("run"))
      .def_static(
          "fit_rows",
          [](const AnyArray& rows, const std::vector<std::string>& names, double n_components, bool whiten,
             std::string_view centering, std::string_view scaling, std::string_view missing, double tolerance,
             std::uint64_t seed, Run& run) {
            return fit_pca_rows(rows, names,
                                pca_options(n_components, whiten, centering, scaling, missing, tolerance, seed), run);
          },
          nb::arg("rows"), nb::arg("names"), nb::arg("n_components") = 0.0, nb::arg("whiten") = false,
          nb::arg("centering") = "mean", nb::arg("scaling") = "none", nb::arg("missing") = "error",
          nb::arg("tolerance") = 0.0, nb::arg("seed") = 0, nb::arg("run"))
      .def(
          "transform",
          [](const FittedPca& model, const Table& table, bool as_float32, Run& run) {
            return as_float32 ? scores_of<float>(model, table, run) : scores_of<double>(model, table, run);
          },
          nb::arg("table"), nb::arg("as_float32") = false, nb::arg("run"))
      .def(
          "transform_rows",
          [](const FittedPca& model, const AnyArray& rows, bool as_float32, Run& run) {
            return as_float32 ? scores_of_rows<float>(model, rows, run) : scores_of_rows<double>(model, rows, run);
          },
          nb::arg("rows"), nb::arg("as_float32") = false, nb::arg("run"))
      .def_prop_ro("feature_names", [](const FittedPca& model) { return model.fitted.feature_names(); })
      .def_prop_ro("mean", [](const FittedPca& model) { return numbers(model.fitted.mean()); })
      .def_prop_ro("scale", [](const FittedPca& model) { return numbers(model.fitted.scale()); })
      .def_prop_ro("components",
                   [](const FittedPca& model) {
                     const Buffer<double>& all = model.fitted.components();
                     return array_of(std::vector<double>(all.begin(), all.end()),
                                     {static_cast<std::size_t>(model.fitted.n_components()),
                                      static_cast<std::size_t>(model.fitted.n_features())});
                   })
      .def_prop_ro("explained_variance",
                   [](const FittedPca& model) { return numbers(model.fitted.explained_variance()); })
      .def_prop_ro("explained_variance_ratio",
                   [](const FittedPca& model) { return numbers(model.fitted.explained_variance_ratio()); })
      .def_prop_ro("singular_values", [](const FittedPca& model) { return numbers(model.fitted.singular_values()); })
      .def_prop_ro("noise_variance", [](const FittedPca& model) { return model.fitted.noise_variance(); })
      .def_prop_ro("method", [](const FittedPca& model) { return model.fitted.report().method; });
  bind_bytes<Pca>(bound);
}

}  // namespace

void bind_decompose(nb::module_& module) {
  bind_pca(module);
  nb::class_<FittedLinear> bound(module, "LinearModel", "A fitted linear model of one target.");
  bound.def_prop_ro("feature_names", [](const FittedLinear& model) { return model.fitted.feature_names(); })
      .def_prop_ro("coefficients", [](const FittedLinear& model) { return numbers(model.fitted.coefficients()); })
      .def_prop_ro("intercept", [](const FittedLinear& model) { return model.fitted.intercept(); })
      .def_prop_ro("standard_errors", [](const FittedLinear& model) { return numbers(model.fitted.standard_errors()); })
      .def_prop_ro("intercept_standard_error",
                   [](const FittedLinear& model) { return model.fitted.intercept_standard_error(); })
      .def_prop_ro("rank", [](const FittedLinear& model) { return model.fitted.rank(); })
      .def_prop_ro("residual_sum_of_squares",
                   [](const FittedLinear& model) { return model.fitted.residual_sum_of_squares(); })
      .def_prop_ro("r2", [](const FittedLinear& model) { return model.fitted.r2(); })
      .def_prop_ro("method", [](const FittedLinear& model) { return model.fitted.report().method; })
      .def_prop_ro("iterations", [](const FittedLinear& model) { return model.fitted.report().iterations; });
  bind_bytes<LinearModel>(bound);
  module.def("fit_linear", &fit_linear, nb::arg("table"), nb::arg("targets"), nb::arg("weights").none(),
             nb::arg("alphas"), nb::arg("fit_intercept"), nb::arg("standard_errors"), nb::arg("missing"),
             nb::arg("max_iterations"), nb::arg("run"));
  module.def("fit_linear_rows", &fit_linear_rows, nb::arg("rows"), nb::arg("names"), nb::arg("targets"),
             nb::arg("alphas"), nb::arg("fit_intercept"), nb::arg("standard_errors"), nb::arg("max_iterations"),
             nb::arg("run"));
  module.def("predict_linear", &predict_linear, nb::arg("models"), nb::arg("table"), nb::arg("run"));
  module.def("predict_linear_rows", &predict_linear_rows, nb::arg("models"), nb::arg("rows"), nb::arg("run"));
}

}  // namespace stope::python
