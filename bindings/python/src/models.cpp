#include "models.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "discretize.hpp"
#include "run.hpp"
#include "stope/error.hpp"
#include "stope/model.hpp"
#include "stope/predictor.hpp"
#include "tree.hpp"

namespace nb = nanobind;

namespace stope::python {
namespace {

// Takes over a fitted object of the first of these classes that it is. A class that is not bound has no objects.
template <class... Fitted>
bool take(Model& model, const nb::handle& fitted) {
  return ((nb::isinstance<Fitted>(fitted) && (model.fitted = nb::cast<const Fitted&>(fitted), true)) || ...);
}

Model model_of(const Table& table, const nb::object& fitted) {
  Model model;
  model.columns = outline(table);
  if (!take<DecisionTree, Pca, LinearModel>(model, fitted)) {
    throw Error(ErrorCode::unsupported, "only a tree, principal components or a linear model become a model this way");
  }
  return model;
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
    const nb::gil_scoped_release released;
    write_model([&](std::string_view part) { bytes += part; }, model);
  }
  return nb::bytes(bytes.data(), bytes.size());
}

// Columns stay in the bytes of the Python object, which never change.
Model of_bytes(const nb::bytes& bytes, Run& run) {
  const ModelBytes lent{{bytes.c_str(), bytes.size()}, keep_alive(bytes)};
  return result_of(run, [&](const RunOptions& how) { return read_model(lent, how, Tables::shared); });
}

nb::object fitted(const Model& model, nb::handle self) {
  if (const auto* tree = std::get_if<DecisionTree>(&model.fitted)) {
    return nb::cast(tree, nb::rv_policy::reference_internal, self);
  }
  if (const auto* pca = std::get_if<Pca>(&model.fitted)) return nb::cast(*pca);
  if (const auto* linear = std::get_if<LinearModel>(&model.fitted)) return nb::cast(*linear);
  if (const auto* cuts = std::get_if<CutsModel>(&model.fitted)) {
    nb::dict dict;
    dict["cuts"] = list_of(cuts->cuts);
    dict["missing"] = to_string(cuts->coding.missing);
    dict["style"] = to_string(cuts->coding.style);
    return std::move(dict);
  }
  if (const auto* neighbors = std::get_if<NeighborsModel>(&model.fitted)) {
    nb::dict dict;
    dict["train"] = neighbors->train;
    dict["metric"] = neighbors->options.metric.name;
    dict["metric_params"] = neighbors->options.metric.params;
    dict["feature_weights"] = neighbors->options.feature_weights;
    dict["n_neighbors"] = neighbors->n_neighbors;
    dict["weights"] = to_string(neighbors->weights);
    dict["normalize"] = to_string(neighbors->normalizer.options().method);
    return std::move(dict);
  }
  return nb::none();
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

nb::dict summary(const std::string& path, Run& run) {
  const ModelSummary found = result_of(run, [&](const RunOptions& how) { return summarize_model(path, how); });
  nb::dict dict;
  dict["kind"] = found.kind;
  dict["version"] = found.version;
  dict["bytes"] = found.bytes;
  dict["options"] = found.options;
  nb::list tables;
  for (const ModelSummary::Part& part : found.tables) {
    tables.append(nb::make_tuple(part.name, part.n_rows, part.n_columns));
  }
  dict["tables"] = tables;
  return dict;
}

Predictor predictor_of(const Model& model, Run& run) {
  std::optional<Predictor> predictor;
  run_job(run, [&](const RunOptions& how) { predictor.emplace(model, how); });
  return *predictor;
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
      .def_static("of", &model_of, nb::arg("table"), nb::arg("fitted"))
      .def_static("of_cuts", &model_of_cuts, nb::arg("table"), nb::arg("cuts"), nb::arg("missing"), nb::arg("style"))
      .def_static("of_neighbors", &model_of_neighbors, nb::arg("train"), nb::kw_only(), nb::arg("metric"),
                  nb::arg("metric_params"), nb::arg("feature_weights"), nb::arg("n_neighbors"), nb::arg("weights"),
                  nb::arg("normalize"), nb::arg("run"))
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
      .def_prop_ro("fitted", [](nb::handle self) { return fitted(nb::cast<const Model&>(self), self); });
  module.def("summarize_model", &summary, nb::arg("path"), nb::arg("run"));
  bind_predictor(module);
}

}  // namespace stope::python
