#include "io.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"
#include "stope/files.hpp"
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

template <class T>
T value_of(const std::string& option, nb::handle value) {
  T result{};
  if (nb::try_cast(value, result)) return result;
  throw Error(ErrorCode::invalid_argument, option + ": the value is of a wrong type", {.option = option});
}

// Sets the option of that name; false where there is none.
bool set_option(ReadOptions& options, const std::string& name, nb::handle value) {
  const auto text = [&] { return value_of<std::string>(name, value); };
  const auto list = [&] { return value_of<Names>(name, value); };
  const auto number = [&] { return value_of<std::int64_t>(name, value); };
  const std::map<std::string_view, std::function<void()>> setters = {
      {"format", [&] { options.format = table_format(text()); }},
      {"encoding", [&] { options.encoding = encoding(text()); }},
      {"separator", [&] { options.separator = character(text(), "separator"); }},
      {"decimal", [&] { options.decimal = character(text(), "decimal"); }},
      {"comment", [&] { options.comment = character(text(), "comment"); }},
      {"skip_lines", [&] { options.skip_lines = number(); }},
      {"thousands", [&] { options.thousands = character(text(), "thousands"); }},
      {"allow_ragged", [&] { options.allow_ragged = value_of<bool>(name, value); }},
      {"sheet", [&] { options.sheet = text(); }},
      {"sample", [&] { options.sample = number(); }},
      {"sample_seed", [&] { options.sample_seed = value_of<std::uint64_t>(name, value); }},
      {"select", [&] { options.select = list(); }},
      {"header", [&] { options.header = header(text()); }},
      {"names", [&] { options.names = list(); }},
      {"first_names", [&] { options.first_names = list(); }},
      {"missing", [&] { options.missing = list(); }},
      {"nominal_order", [&] { options.nominal_order = nominal_order(text()); }},
      {"schema", [&] { options.schema = text(); }},
      {"schema_part", [&] { options.schema_part = text(); }},
      {"target", [&] { options.target = text(); }},
      {"id", [&] { options.id = text(); }},
      {"sample_weight", [&] { options.sample_weight = text(); }},
      {"target_is_nominal", [&] { options.target_is_nominal = value_of<bool>(name, value); }},
      {"ignore", [&] { options.ignore = list(); }},
      {"nominal", [&] { options.nominal = list(); }},
      {"numeric", [&] { options.numeric = list(); }},
      {"date", [&] { options.date = list(); }},
      {"unknown_columns", [&] { options.unknown_columns = unknown_columns(text()); }},
      {"n_features", [&] { options.n_features = number(); }},
      {"dtype", [&] { options.dtype = text(); }},
  };
  const auto setter = setters.find(name);
  if (setter == setters.end()) return false;
  setter->second();
  return true;
}

Table read(const std::string& path, const nb::dict& words, Run& run) {
  ReadOptions options;
  for (const auto& [key, value] : words) {
    const auto name = value_of<std::string>("options", key);
    if (!set_option(options, name, value)) {
      throw Error(ErrorCode::invalid_argument, "read_table has no option '" + name + "'", {.option = name});
    }
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
  module.def("files_available", [] { return files_info().available; });
  module.def("evaluate_knn", &evaluate_knn, nb::arg("table"), nb::kw_only(), nb::arg("metric"),
             nb::arg("metric_params"), nb::arg("feature_weights"), nb::arg("normalize"), nb::arg("weights"),
             nb::arg("scheme"), nb::arg("n_folds"), nb::arg("holdout"), nb::arg("seed"), nb::arg("ks"), nb::arg("run"));
}

}  // namespace stope::python
