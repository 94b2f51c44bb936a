// The options of "evaluate" and "confusion" (src/jobs/job_options.hpp): which there are depends on the model.
#include <cmath>
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

}  // namespace

void EvaluateJob::visit(Visitor& visitor) {
  visitor.one_of("model", model, {"knn", "tree", "lsq"},
                 "what is evaluated; options that it does not have are unknown");
  const bool all = visitor.describes(), knn = model == "knn", is_tree = model == "tree", is_lsq = model == "lsq";
  if (all || knn) {
    distance.visit(visitor);
    visitor.list("metrics", metrics, "knn: several measures, in place of metric");
    visitor.list("normalizations", normalizations, "knn: several normalisations, in place of normalize");
    visitor.numbers("n_neighbors", ks, "knn: one k or several");
    visitor.choice("weights", evaluate.weights, vote_weights, "knn: votes: all the same, or by distance");
    visitor.text("exclude_group", evaluate.exclude_group, "knn, leave-one-out: rows of the same group do not vote");
  }
  visitor.choice("scheme", evaluate.scheme, scheme, "how the table is split");
  visitor.integer("n_folds", evaluate.n_folds, "folds of a cross-validation");
  visitor.real("holdout", evaluate.holdout, "share of the rows that is held out");
  visit_seed(visitor, evaluate.seed, "of the splits, and of the rows that prune a tree");
  visitor.integer("n_repeats", evaluate.n_repeats, "repetitions, with the seeds seed, seed + 1, ...");
  if (all || is_tree || is_lsq) {
    visitor.one_of("missing", missing, {"error", "value", "drop", "fill", "mean"},
                   "what a missing value of an attribute means: tree: error, value, drop, fill; lsq: error, mean");
  }
  if (all || is_tree) visit_tree(visitor, tree);
  if (all || knn || is_tree) class_weights.visit(visitor);
  if (all || is_lsq) {
    visitor.real("alpha", lsq.alpha, "lsq: ridge: weight of the coefficients' squares");
    visitor.flag("fit_intercept", lsq.fit_intercept, "lsq: fit an intercept");
    visitor.choice("nominal", lsq.nominal, nominal_features, "lsq: what a nominal attribute means");
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
