#include "models.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "discretize.hpp"
#include "gil.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"
#include "stope/predictor.hpp"
#include "tree.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

Model model_of_tree(const Table& table, const DecisionTree& tree) {
  return {outline(table), tree};
}

Model model_of_cuts(const Table& table, const nb::list& cuts, std::string_view missing, std::string_view style) {
  const ApplyOptions coding{.missing = missing_policy(missing), .style = code_style(style)};
  return {outline(table), CutsModel{cuts_of(cuts), coding}};
}

Model model_of_neighbors(const Table& train, std::string metric, std::map<std::string, std::string> params,
                         std::vector<double> feature_weights, std::int64_t n_neighbors, std::string_view weights,
                         std::string_view normalize, Run& run) {
  KnnOptions knn;
  knn.metric = {std::move(metric), std::move(params)};
  knn.feature_weights = std::move(feature_weights);
  const NormalizeOptions how{.method = normalization(normalize)};
  const VoteOptions vote{.n_neighbors = n_neighbors, .weights = vote_weights(weights)};
  return result_of(run, [&](const RunOptions& options) {
    return Model{outline(train), make_neighbors_model(train, knn, how, vote, options)};
  });
}

nb::bytes bytes_of(const Model& model) {
  std::string bytes;
  {
    const WithoutGil released;
    write_model([&](std::string_view part) { bytes += part; }, model);
  }
  return nb::bytes(bytes.data(), bytes.size());
}

// Columns stay in the bytes of the Python object, which never change.
Model of_bytes(const nb::bytes& bytes, Run& run) {
  const ModelBytes lent{{bytes.c_str(), bytes.size()}, keep_alive(bytes)};
  return result_of(run, [&](const RunOptions& how) { return read_model(lent, how, Tables::shared); });
}

nb::dict contents(const Pca& pca) {
  const auto n_components = static_cast<std::size_t>(pca.n_components());
  const auto n_features = static_cast<std::size_t>(pca.n_features());
  nb::dict dict;
  dict["feature_names"] = pca.feature_names();
  dict["components"] =
      array_of(std::vector<double>(pca.components().begin(), pca.components().end()), {n_components, n_features});
  dict["mean"] = array_of(std::vector<double>(pca.mean()));
  dict["scale"] = array_of(std::vector<double>(pca.scale()));
  dict["explained_variance"] = array_of(std::vector<double>(pca.explained_variance()));
  dict["explained_variance_ratio"] = array_of(std::vector<double>(pca.explained_variance_ratio()));
  dict["singular_values"] = array_of(std::vector<double>(pca.singular_values()));
  return dict;
}

nb::dict contents(const LinearModel& linear) {
  nb::dict dict;
  dict["feature_names"] = linear.feature_names();
  dict["coefficients"] = array_of(std::vector<double>(linear.coefficients()));
  dict["intercept"] = linear.intercept();
  dict["standard_errors"] = array_of(std::vector<double>(linear.standard_errors()));
  dict["r2"] = linear.r2();
  return dict;
}

nb::dict contents(const CutsModel& cuts) {
  nb::dict dict;
  dict["cuts"] = list_of(cuts.cuts);
  dict["missing"] = to_string(cuts.coding.missing);
  dict["style"] = to_string(cuts.coding.style);
  return dict;
}

nb::dict contents(const NeighborsModel& neighbors) {
  nb::dict dict;
  dict["train"] = neighbors.train;
  dict["metric"] = neighbors.options.metric.name;
  dict["metric_params"] = neighbors.options.metric.params;
  dict["feature_weights"] = neighbors.options.feature_weights;
  dict["n_neighbors"] = neighbors.n_neighbors;
  dict["weights"] = to_string(neighbors.weights);
  dict["normalize"] = to_string(neighbors.normalizer.options().method);
  return dict;
}

nb::dict contents(const Normalizer& normalizer) {
  nb::list columns;
  for (const ColumnTransform& one : normalizer.columns()) {
    nb::dict column;
    column["name"] = one.name;
    column["shift"] = one.shift;
    column["scale"] = one.scale;
    column["factor"] = one.factor;
    column["offset"] = one.offset;
    columns.append(column);
  }
  nb::dict dict;
  dict["method"] = to_string(normalizer.options().method);
  dict["columns"] = columns;
  return dict;
}

// Each step is a model of its own.
nb::dict contents(const ChainModel& chain) {
  nb::list steps;
  for (const Model& step : chain.steps) steps.append(nb::cast(step));
  nb::dict dict;
  dict["steps"] = steps;
  return dict;
}

nb::dict contents(const Imputer& imputer) {
  const ImputeOptions& options = imputer.options();
  nb::dict dict;
  dict["train"] = imputer.train();
  dict["columns"] = imputer.columns();
  dict["n_neighbors"] = options.n_neighbors;
  dict["weights"] = to_string(options.weights);
  dict["strategy"] = to_string(options.strategy);
  dict["metric"] = options.metric.name;
  dict["metric_params"] = options.metric.params;
  dict["feature_weights"] = options.feature_weights;
  dict["normalize"] = to_string(options.normalize.method);
  dict["indicators"] = to_string(options.indicators);
  return dict;
}

// A tree as an object, which keeps the model alive; any other kind as a dict of what was fitted.
nb::object fitted(nb::handle self) {
  const Model& model = nb::cast<const Model&>(self);
  if (const auto* tree = std::get_if<DecisionTree>(&model.fitted)) {
    return nb::cast(tree, nb::rv_policy::reference_internal, self);
  }
  return std::visit(
      [](const auto& one) -> nb::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, DecisionTree>)
          return nb::none();
        else
          return contents(one);
      },
      model.fitted);
}

std::string_view gives(const Predictor& predictor) {
  switch (predictor.gives()) {
    case Predictor::Gives::classes: return "classes";
    case Predictor::Gives::numbers: return "numbers";
    case Predictor::Gives::neighbors: return "neighbors";
    case Predictor::Gives::table: break;
  }
  return "table";
}

Predictor predictor_of(const Model& model, Run& run) {
  const auto made = result_of(run, [&](const RunOptions& how) { return std::make_unique<Predictor>(model, how); });
  return *made;
}

nb::object neighbors(const Predictor& predictor, const Table& table, Run& run) {
  Neighbors found = result_of(run, [&](const RunOptions& how) { return predictor.neighbors(table, how); });
  return nb::make_tuple(array_of(std::move(found.offsets)), array_of(std::move(found.indices)),
                        array_of(std::move(found.distances)));
}

void bind_predictor(nb::module_& module) {
  nb::class_<Predictor>(module, "Predictor", "A model ready for use.")
      .def_static("of", &predictor_of, nb::arg("model"), nb::arg("run"))
      .def_prop_ro("gives", &gives)
      .def_prop_ro("model", [](const Predictor& predictor) { return predictor.model(); })
      .def_prop_ro("classes", [](const Predictor& predictor) { return predictor.classes().names(); })
      .def(
          "with_vote",
          [](const Predictor& predictor, std::int64_t n_neighbors, std::string_view weights) {
            return predictor.with_vote(n_neighbors, vote_weights(weights));
          },
          nb::arg("n_neighbors"), nb::arg("weights"))
      .def(
          "classify",
          [](const Predictor& predictor, const Table& table, Run& run) {
            return arrays_of(result_of(run, [&](const RunOptions& how) { return predictor.classify(table, how); }));
          },
          nb::arg("table"), nb::arg("run"))
      .def(
          "regress",
          [](const Predictor& predictor, const Table& table, Run& run) {
            return array_of(result_of(run, [&](const RunOptions& how) { return predictor.regress(table, how); }));
          },
          nb::arg("table"), nb::arg("run"))
      .def("neighbors", &neighbors, nb::arg("table"), nb::arg("run"))
      .def(
          "transform",
          [](const Predictor& predictor, const Table& table, Run& run) {
            return result_of(run, [&](const RunOptions& how) { return predictor.transform(table, how); });
          },
          nb::arg("table"), nb::arg("run"));
}

}  // namespace

void bind_models(nb::module_& module) {
  nb::class_<Model>(module, "Model", "A fitted model, and the columns of the table to which it was fitted.")
      .def_static("of_tree", &model_of_tree, nb::arg("table"), nb::arg("tree"))
      .def_static("of_cuts", &model_of_cuts, nb::arg("table"), nb::arg("cuts"), nb::arg("missing"), nb::arg("style"))
      .def_static("of_neighbors", &model_of_neighbors, nb::arg("train"), nb::kw_only(), nb::arg("metric"),
                  nb::arg("metric_params"), nb::arg("feature_weights"), nb::arg("n_neighbors"), nb::arg("weights"),
                  nb::arg("normalize"), nb::arg("run"))
      .def_static(
          "chain", [](std::vector<Model> models) { return make_chain(std::move(models)); }, nb::arg("models"))
      .def_static("of_bytes", &of_bytes, nb::arg("bytes"), nb::arg("run"))
      .def_static(
          "read",
          [](const std::string& path, Run& run) {
            return result_of(run, [&](const RunOptions& how) { return read_model(path, how, Tables::shared); });
          },
          nb::arg("path"), nb::arg("run"))
      .def("to_bytes", &bytes_of)
      .def(
          "write",
          [](const Model& model, const std::string& path, Run& run) {
            run_job(run, [&](const RunOptions& how) {
              OutputFile file(path, how.cancel);
              write_model(file, model);
              file.commit();
            });
          },
          nb::arg("path"), nb::arg("run"))
      .def("__getstate__", &bytes_of)
      .def("__setstate__",
           [](Model& self, const nb::bytes& bytes) {
             Run run;
             run.progress = nb::none();
             new (&self) Model(of_bytes(bytes, run));
           })
      .def_prop_ro("kind", &Model::kind)
      .def_prop_ro("columns", [](const Model& model) { return model.columns; })
      .def_prop_ro("fitted", &fitted);
  bind_predictor(module);
}

}  // namespace stope::python
