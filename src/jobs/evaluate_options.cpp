// The options of "evaluate" and "confusion" (src/jobs/job_options.hpp): which have an effect depends on the model.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jobs/job_options.hpp"
#include "stope/error.hpp"

namespace stope::jobs {
namespace {

template <class Options>
void set_splits(const EvaluateOptions& from, Options& to) {
  to.scheme = from.scheme;
  to.n_folds = from.n_folds;
  to.holdout = from.holdout;
  to.seed = from.seed;
  to.n_repeats = from.n_repeats;
}

[[noreturn]] void refuse_option(const std::string& option, const std::string& model) {
  throw Error(ErrorCode::invalid_argument, option + " has no effect on the model " + model, {.option = option});
}

// Throws for the first option of a group whose value is not the default.
template <class Visit>
void require_untouched(EvaluateJob& given, EvaluateJob& fresh, const Visit& visit) {
  Describer of_given, of_fresh;
  visit(given, of_given);
  visit(fresh, of_fresh);
  const auto now = nlohmann::json::parse(of_given.json()), before = nlohmann::json::parse(of_fresh.json());
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i]["default"] != before[i]["default"]) refuse_option(now[i]["name"].get<std::string>(), given.model);
  }
}

}  // namespace

void EvaluateJob::visit_knn(Visitor& visitor) {
  distance.visit(visitor);
  visitor.list("metrics", metrics, "knn: several measures, in place of metric");
  visitor.list("normalizations", normalizations, "knn: several normalisations, in place of normalize");
  visitor.numbers("n_neighbors", ks, "knn: one k or several");
  visitor.choice("weights", evaluate.weights, vote_weights, "knn: votes: all the same, or by distance");
  visitor.text("exclude_group", evaluate.exclude_group, "knn, leave-one-out: rows of the same group do not vote");
}

void EvaluateJob::visit_missing(Visitor& visitor) {
  visitor.one_of("missing", missing, {"error", "value", "drop", "fill", "mean"},
                 "what a missing value of an attribute means: tree: error, value, drop, fill; lsq: error, mean");
}

void EvaluateJob::visit_lsq(Visitor& visitor) {
  visitor.real("alpha", lsq.alpha, "lsq: ridge: weight of the coefficients' squares");
  visitor.flag("fit_intercept", lsq.fit_intercept, "lsq: fit an intercept");
  visitor.choice("nominal", lsq.nominal, nominal_features, "lsq: what a nominal attribute means");
}

void EvaluateJob::visit(Visitor& visitor) {
  visitor.one_of("model", model, {"knn", "tree", "lsq"}, "what is evaluated");
  visit_knn(visitor);
  visitor.choice("scheme", evaluate.scheme, scheme, "how the table is split");
  visitor.integer("n_folds", evaluate.n_folds, "folds of a cross-validation");
  visitor.real("holdout", evaluate.holdout, "share of the rows that is held out");
  visit_seed(visitor, evaluate.seed, "of the splits, and of the rows that prune a tree");
  visitor.integer("n_repeats", evaluate.n_repeats, "repetitions, with the seeds seed, seed + 1, ...");
  visit_missing(visitor);
  visit_tree(visitor, tree);
  class_weights.visit(visitor);
  visit_lsq(visitor);
}

// A form may send every option at its default. Another value of an option that the model does not have is a mistake.
void EvaluateJob::check() const {
  EvaluateJob given = *this, fresh;
  const auto& params = distance.knn.metric.params;
  const auto& weights = class_weights.by_name;
  if (model != "knn") {
    if (!params.empty()) refuse_option("metric." + params.begin()->first, model);
    require_untouched(given, fresh, [](EvaluateJob& job, Visitor& visitor) { job.visit_knn(visitor); });
  } else {
    require_untouched(given, fresh, [](EvaluateJob& job, Visitor& visitor) { job.visit_missing(visitor); });
  }
  if (model != "tree") {
    require_untouched(given, fresh, [](EvaluateJob& job, Visitor& visitor) { visit_tree(visitor, job.tree); });
  }
  if (model != "lsq") {
    require_untouched(given, fresh, [](EvaluateJob& job, Visitor& visitor) { job.visit_lsq(visitor); });
  } else {
    if (!weights.empty()) refuse_option("class_weight." + weights.begin()->first, model);
    require_untouched(given, fresh, [](EvaluateJob& job, Visitor& visitor) { job.class_weights.visit(visitor); });
  }
}

EvaluateOptions EvaluateJob::knn_options() const {
  EvaluateOptions options = evaluate;
  options.knn = distance.knn;
  options.normalize = distance.normalize;
  class_weights.set(options.knn);
  options.ks.clear();
  for (const double k : ks) {
    if (!(k >= 1.0 && k <= 0x1p53 && k == std::floor(k))) {
      throw Error(ErrorCode::invalid_argument, "n_neighbors: a k is not a whole number of at least 1",
                  {.option = "n_neighbors"});
    }
    options.ks.push_back(static_cast<std::int64_t>(k));
  }
  return options;
}

std::vector<std::string> EvaluateJob::all_metrics() const {
  return metrics.empty() ? Names{distance.knn.metric.name} : metrics;
}

std::vector<NormalizeOptions> EvaluateJob::all_normalizations() const {
  if (normalizations.empty()) return {distance.normalize};
  std::vector<NormalizeOptions> all;
  all.reserve(normalizations.size());
  for (const std::string& name : normalizations) {
    all.push_back(distance.normalize);
    all.back().method = normalization(name);
  }
  return all;
}

TreeEvaluationOptions EvaluateJob::tree_options() const {
  TreeEvaluationOptions options;
  options.fit = tree;
  set_splits(evaluate, options);
  class_weights.set(options.fit.tree);
  options.fit.seed = evaluate.seed;
  options.fit.tree.missing = missing_policy(missing);
  return options;
}

LsqEvaluationOptions EvaluateJob::lsq_options() const {
  LsqEvaluationOptions options;
  options.lsq = lsq;
  set_splits(evaluate, options);
  options.lsq.missing = missing_values(missing);
  return options;
}

}  // namespace stope::jobs
