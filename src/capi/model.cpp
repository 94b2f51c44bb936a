// Models of the C ABI: fitting, applying and asking them.
#include "capi/model.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "capi/guarded.hpp"
#include "capi/job_options.hpp"
#include "capi/json.hpp"
#include "capi/result_tables.hpp"
#include "capi/run.hpp"
#include "capi/table.hpp"
#include "model/kinds.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::capi {
namespace {

using Fitted = decltype(Model::fitted);

const Column* label_of(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  return at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)];
}

// The label says whether k-NN classifies; a kind that says otherwise is a mistake.
void require_label(const Table& train, std::string_view kind, bool nominal) {
  const Column* const label = label_of(train);
  if (label != nullptr && label->nominal() == nominal) return;
  const std::string what = nominal ? "a nominal label" : "a label of numbers";
  throw Error(ErrorCode::invalid_argument,
              std::string(kind) + " needs " + what +
                  (label == nullptr ? ", and the table has no label" : ", and '" + label->name + "' is none"),
              {.option = "target", .feature = label == nullptr ? "" : label->name});
}

Fitted fit_knn(const Table& train, std::string_view kind, const Options& options, const RunOptions& run) {
  const auto job = read_options<KnnJob>(options, kind);
  if (kind != "neighbors") require_label(train, kind, kind == "classify");
  const Table& labelled = kind == "neighbors" ? features_only(train) : train;
  return make_neighbors_model(labelled, job.options(train), job.distance.normalize, job.vote, run);
}
Fitted fit_pca(const Table& train, std::string_view kind, const Options& options, const RunOptions& run) {
  return Pca::fit(train, read_options<PcaJob>(options, kind).pca, run);
}
Fitted fit_lsq(const Table& train, std::string_view kind, const Options& options, const RunOptions& run) {
  return LinearModel::fit(train, read_options<LsqJob>(options, kind).lsq, run);
}
Fitted grow_tree(const Table& train, std::string_view kind, const Options& options, const RunOptions& run) {
  return fit_tree(train, read_options<TreeJob>(options, kind).options(), run);
}
Fitted fit_cuts(const Table& train, std::string_view kind, const Options& options, const RunOptions& run) {
  const auto job = read_options<CutsJob>(options, kind);
  return CutsModel{find_cuts(train, job.find.cuts, run), {.missing = job.find.cuts.missing, .style = job.style}};
}
Fitted fit_normalizer(const Table& train, std::string_view kind, const Options& options, const RunOptions& run) {
  return Normalizer::fit(train, read_options<NormalizeJob>(options, kind).normalize, run);
}

struct Kind {
  std::string_view name;
  Fitted (*fit)(const Table& train, std::string_view kind, const Options& options, const RunOptions& run);
};
constexpr Kind kKinds[] = {
    {"neighbors", fit_knn}, {"classify", fit_knn}, {"regress", fit_knn}, {"pca", fit_pca},
    {"lsq", fit_lsq},       {"tree", grow_tree},   {"cuts", fit_cuts},   {"normalize", fit_normalizer}};

Predictor fit(const std::string& kind, const Table& train, const Options& options, const RunOptions& run) {
  Names names;
  for (const Kind& one : kKinds) {
    if (one.name == kind) return Predictor({outline(train), one.fit(train, kind, options, run)}, run);
    names.emplace_back(one.name);
  }
  throw Error(ErrorCode::invalid_argument, "there is no kind of model '" + kind + "'" + did_you_mean(kind, names),
              {.option = "kind"});
}

// The table of one label's predictions: "prediction" has the label's own type.
Table predictions(const Classification& classes, const Column* label, bool proba) {
  Table table;
  table.n_rows = std::ssize(classes.codes);
  const ValueType type = label != nullptr && label->nominal() ? label->type : ValueType::nominal;
  table.columns.push_back(make_nominal("prediction", classes.codes, classes.classes, type));
  const auto n_classes = static_cast<std::int64_t>(classes.classes.size());
  for (std::int64_t c = 0; proba && c < n_classes; ++c) {
    Buffer<double> column(table.n_rows);
    const double* confidence = classes.confidences.data() + c;
    for (std::int64_t row = 0; row < table.n_rows; ++row) column[row] = confidence[row * n_classes];
    table.columns.push_back(column_of("confidence(" + classes.classes[c] + ")", std::move(column)));
  }
  return table;
}

Table classified(const Predictor& predictor, const Table& rows, bool proba, const RunOptions& run) {
  const Column* const label = label_of(predictor.model().columns);
  if (proba) return predictions(predictor.classify(rows, run), label, true);
  Classification all;
  all.classes = predictor.classes();
  all.codes.resize(static_cast<std::size_t>(rows.n_rows));
  predictor.classify(
      rows, run,
      [&](std::int64_t first, const Classification& block) {
        std::copy(block.codes.begin(), block.codes.end(), all.codes.begin() + first);
      },
      Confidences::none);
  return predictions(all, label, false);
}

Table numbers(const std::vector<double>& values) {
  Table table;
  table.n_rows = std::ssize(values);
  table.columns.push_back(make_numeric("prediction", values));
  return table;
}

Table apply(const Predictor& predictor, const Table& rows, const ApplyJob& job, const RunOptions& run) {
  if (job.n_neighbors || !job.weights.empty()) {
    const VoteWeights given = job.weights.empty() ? VoteWeights::uniform : vote_weights(job.weights);
    const auto* const knn = std::get_if<NeighborsModel>(&predictor.model().fitted);
    ApplyJob rest = job;
    rest.n_neighbors.reset();
    rest.weights.clear();
    const std::int64_t k = job.n_neighbors.value_or(knn == nullptr ? 1 : knn->n_neighbors);
    const VoteWeights weights = job.weights.empty() && knn != nullptr ? knn->weights : given;
    return apply(predictor.with_vote(k, weights), rows, rest, run);
  }
  if (job.proba && predictor.gives() != Predictor::Gives::classes) {
    throw Error(ErrorCode::invalid_argument,
                "the model (" + std::string(predictor.model().kind()) + ") gives no classes, and so no confidences",
                {.option = "proba"});
  }
  switch (predictor.gives()) {
    case Predictor::Gives::classes: return classified(predictor, rows, job.proba, run);
    case Predictor::Gives::numbers: return numbers(predictor.regress(rows, run));
    case Predictor::Gives::neighbors: return neighbors_table(predictor.neighbors(rows, run));
    case Predictor::Gives::table: break;
  }
  return predictor.transform(rows, run);
}

const char* gives_text(Predictor::Gives gives) {
  switch (gives) {
    case Predictor::Gives::classes: return "classes";
    case Predictor::Gives::numbers: return "numbers";
    case Predictor::Gives::neighbors: return "neighbors";
    case Predictor::Gives::table: break;
  }
  return "table";
}

std::string info_json(const Predictor& predictor) {
  const model::Content content = model::content_of(predictor.model());
  Json info = {{"kind", content.kind}, {"gives", gives_text(predictor.gives())}};
  info["classes"] = std::vector<std::string>(predictor.classes().begin(), predictor.classes().end());
  info["options"] = Json::object();
  for (const auto& [name, value] : content.options) info["options"][name] = value;
  info["columns"] = columns_json(predictor.model().columns);
  info["tables"] = Json::array();
  for (const model::NamedTable& one : content.tables) info["tables"].push_back(one.name);
  return json_text(info);
}

Table part_of(const Predictor& predictor, const std::string& name) {
  model::Content content = model::content_of(predictor.model());
  Names names;
  for (model::NamedTable& one : content.tables) {
    if (one.name == name) return std::move(one.table);
    names.push_back(one.name);
  }
  throw Error(ErrorCode::invalid_argument, "the model has no table '" + name + "'" + did_you_mean(name, names),
              {.option = "name"});
}

}  // namespace

Table HeldModel::features() const {
  Table table = predictor.model().columns;
  std::erase_if(table.columns, [](const Column& column) { return column.role != Role::regular; });
  return table;
}

}  // namespace stope::capi

using namespace stope::capi;

stope_code stope_fit(const char* kind, const stope_table* train, const stope_options* options, stope_run* run,
                     stope_model** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const std::string name = required(kind, "kind");
    const auto table = at<HeldTable>(train);
    const Options set = options_of(options);
    const JobRun job(run);
    *out = give_model(fit(name, table->table, set, job.options()));
  });
}

stope_code stope_apply(const stope_model* model, const stope_table* rows, const stope_options* options, stope_run* run,
                       stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<HeldModel>(model);
    const auto table = at<HeldTable>(rows);
    const auto wanted = read_options<ApplyJob>(options, "apply");
    const JobRun job(run);
    *out = give_table(apply(held->predictor, table->table, wanted, job.options()));
  });
}

const char* stope_model_info(const stope_model* model) {
  const auto held = find<HeldModel>(model);
  return held == nullptr ? nullptr : held->info.get([&] { return info_json(held->predictor); });
}

stope_code stope_model_table(const stope_model* model, const char* name, stope_table** out, stope_error* error) {
  return guarded(error, [&] {
    begin_out(out);
    const auto held = at<HeldModel>(model);
    *out = give_table(part_of(held->predictor, required(name, "name")));
  });
}

const char* stope_model_text(const stope_model* model, const char* format) {
  try {
    const auto held = find<HeldModel>(model);
    if (held == nullptr || format == nullptr) return nullptr;
    const auto* const tree = std::get_if<stope::DecisionTree>(&held->predictor.model().fitted);
    if (tree == nullptr) return nullptr;
    const auto wanted = stope::tree_format(format);
    return held->texts.at(static_cast<std::size_t>(wanted)).get([&] { return stope::format_tree(*tree, wanted); });
  } catch (...) {
    return nullptr;
  }
}

void stope_model_free(stope_model* model) {
  remove_handle(model, stope::capi::Kind::model);
}
