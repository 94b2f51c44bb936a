#include "io.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/io.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

using Names = std::vector<std::string>;

// A separator and its like: no character stands for "found", or none.
char character(const std::string& word, const char* option) {
  if (word.empty()) return '\0';
  if (word.size() == 1) return word.front();
  throw Error(ErrorCode::invalid_argument, std::string(option) + ": '" + word + "' is not one character",
              {.option = option});
}

Table read(const std::string& path, const nb::dict& words, Run& run) {
  ReadOptions options;
  const auto text = [](nb::handle value) { return nb::cast<std::string>(value); };
  const auto names = [](nb::handle value) { return nb::cast<Names>(value); };
  for (const auto& [key, value] : words) {
    const std::string name = nb::cast<std::string>(key);
    if (name == "format")
      options.format = table_format(text(value));
    else if (name == "encoding")
      options.encoding = encoding(text(value));
    else if (name == "separator")
      options.separator = character(text(value), "separator");
    else if (name == "decimal")
      options.decimal = character(text(value), "decimal");
    else if (name == "comment")
      options.comment = character(text(value), "comment");
    else if (name == "skip_lines")
      options.skip_lines = nb::cast<std::int64_t>(value);
    else if (name == "header")
      options.header = header(text(value));
    else if (name == "names")
      options.names = names(value);
    else if (name == "missing")
      options.missing = names(value);
    else if (name == "nominal_order")
      options.nominal_order = nominal_order(text(value));
    else if (name == "schema")
      options.schema = text(value);
    else if (name == "schema_part")
      options.schema_part = text(value);
    else if (name == "target")
      options.target = text(value);
    else if (name == "id")
      options.id = text(value);
    else if (name == "sample_weight")
      options.sample_weight = text(value);
    else if (name == "target_is_nominal")
      options.target_is_nominal = nb::cast<bool>(value);
    else if (name == "ignore")
      options.ignore = names(value);
    else if (name == "nominal")
      options.nominal = names(value);
    else if (name == "numeric")
      options.numeric = names(value);
    else if (name == "date")
      options.date = names(value);
    else if (name == "unknown_columns")
      options.unknown_columns = unknown_columns(text(value));
    else if (name == "n_features")
      options.n_features = nb::cast<std::int64_t>(value);
    else if (name == "dtype")
      options.dtype = text(value);
    else
      throw Error(ErrorCode::invalid_argument, "read_table has no option '" + name + "'", {.option = name});
  }
  return result_of(run, [&](const RunOptions& how) { return read_table(path, options, how); });
}

void write(const std::string& path, const Table& table, std::string_view format, const std::string& separator,
           std::string dtype, Run& run) {
  WriteOptions options;
  if (!format.empty()) options.format = table_format(format);
  if (!separator.empty()) options.separator = character(separator, "separator");
  options.dtype = std::move(dtype);
  run_job(run, [&](const RunOptions& how) { write_table(path, table, options, how); });
}

nb::dict scores_of(const EvaluationOfK& one, bool nominal) {
  nb::dict scores;
  scores["k"] = one.k;
  scores["fold_scores"] = one.fold_scores;
  if (nominal) {
    scores["accuracy"] = one.classification.accuracy;
    scores["kappa"] = one.classification.kappa;
    scores["macro_f1"] = one.classification.macro_f1;
  } else {
    scores["rmse"] = one.regression.rmse;
    scores["mae"] = one.regression.mae;
    scores["r2"] = one.regression.r2;
  }
  return scores;
}

nb::dict evaluate_knn(const Table& table, std::string metric, std::map<std::string, std::string> params,
                      std::vector<double> feature_weights, std::string_view normalize, std::string_view weights,
                      std::string_view scheme_name, std::int64_t n_folds, double holdout, std::uint64_t seed,
                      std::vector<std::int64_t> ks, Run& run) {
  EvaluateOptions options;
  options.knn.metric = {std::move(metric), std::move(params)};
  options.knn.feature_weights = std::move(feature_weights);
  options.normalize.method = normalization(normalize);
  options.weights = vote_weights(weights);
  options.scheme = scheme(scheme_name);
  options.n_folds = n_folds;
  options.holdout = holdout;
  options.seed = seed;
  options.ks = std::move(ks);
  const Evaluation found = result_of(run, [&](const RunOptions& how) { return evaluate(table, options, how); });
  nb::list of_k;
  for (const EvaluationOfK& one : found.of_k) of_k.append(scores_of(one, found.label_is_nominal));
  nb::dict result;
  result["of_k"] = of_k;
  result["best"] = found.best;
  result["nominal"] = found.label_is_nominal;
  return result;
}

}  // namespace

void bind_io(nb::module_& module) {
  module.def("read_table", &read, nb::arg("path"), nb::arg("options"), nb::arg("run"));
  module.def("write_table", &write, nb::arg("path"), nb::arg("table"), nb::arg("format"), nb::arg("separator"),
             nb::arg("dtype"), nb::arg("run"));
  module.def("evaluate_knn", &evaluate_knn, nb::arg("table"), nb::kw_only(), nb::arg("metric"),
             nb::arg("metric_params"), nb::arg("feature_weights"), nb::arg("normalize"), nb::arg("weights"),
             nb::arg("scheme"), nb::arg("n_folds"), nb::arg("holdout"), nb::arg("seed"), nb::arg("ks"), nb::arg("run"));
}

}  // namespace stope::python
