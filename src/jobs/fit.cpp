// Models fitted by the names of their kinds.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jobs/job_options.hpp"
#include "jobs/label.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/model.hpp"
#include "stope/nearest_name.hpp"

namespace stope::jobs {
namespace {

using Fitted = decltype(Model::fitted);

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

Fitted fit_knn(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  const auto job = read_options<KnnJob>(options, kind);
  if (kind != "neighbors") require_label(train, kind, kind == "classify");
  const Table& labelled = kind == "neighbors" ? features_only(train) : train;
  return make_neighbors_model(labelled, job.options(train), job.distance.normalize, job.vote, run);
}
Fitted fit_pca(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  return Pca::fit(train, read_options<PcaJob>(options, kind).pca, run);
}
Fitted fit_lsq(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  return LinearModel::fit(train, read_options<LsqJob>(options, kind).lsq, run);
}
Fitted grow_tree(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  return fit_tree(train, read_options<TreeJob>(options, kind).options(), run);
}
Fitted fit_cuts(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  const auto job = read_options<CutsJob>(options, kind);
  return CutsModel{find_cuts(train, job.find.cuts, run), {.missing = job.find.cuts.missing, .style = job.style}};
}
Fitted fit_normalizer(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  return Normalizer::fit(train, read_options<NormalizeJob>(options, kind).normalize, run);
}

Fitted fit_imputer(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run) {
  return Imputer::fit(train, read_options<ImputeJob>(options, kind).impute, run);
}

struct Kind {
  std::string_view name;
  Fitted (*fit)(const Table& train, std::string_view kind, const NamedOptions& options, const RunOptions& run);
};
constexpr Kind kKinds[] = {
    {"neighbors", fit_knn}, {"classify", fit_knn}, {"regress", fit_knn}, {"pca", fit_pca},
    {"lsq", fit_lsq},       {"tree", grow_tree},   {"cuts", fit_cuts},   {"normalize", fit_normalizer},
    {"impute", fit_imputer}};

}  // namespace
}  // namespace stope::jobs

std::vector<std::string> stope::model_kinds() {
  std::vector<std::string> names;
  for (const jobs::Kind& one : jobs::kKinds) names.emplace_back(one.name);
  return names;
}

stope::Predictor stope::fit_model(const std::string& kind, const Table& train, const NamedOptions& options,
                                  const RunOptions& run) {
  for (const jobs::Kind& one : jobs::kKinds) {
    if (one.name == kind) return Predictor({outline(train), one.fit(train, kind, options, run)}, run);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no kind of model '" + kind + "'" + did_you_mean(kind, model_kinds()), {.option = "kind"});
}

stope::Predictor stope::chain_models(const std::vector<Predictor>& models, const RunOptions& run) {
  std::vector<Model> parts;
  parts.reserve(models.size());
  for (const Predictor& one : models) parts.push_back(one.model());
  return Predictor(make_chain(std::move(parts)), run);
}
