#include "page/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/budget.hpp"
#include "page/command_line.hpp"
#include "page/words.hpp"

namespace stope::cli::page {
namespace {

constexpr std::int64_t kLeaveOneOut = 2000;  // up to so many rows, every row is predicted from all others
constexpr std::int64_t kFolds = 10;
constexpr std::int64_t kFewestToPrune = 50;  // below, too few rows would be left to grow from
constexpr double kPruneHoldout = 0.3;
constexpr double kCcpAlpha = 0.001;  // a leaf has to be worth this share of the rows
constexpr double kComponents = 12;

class Finder {
 public:
  Finder(const Subject& subject, const FindOptions& options, const RunOptions& run)
      : subject_(subject), options_(options), run_(run) {
    n_features_ = std::ssize(subject_.learnable.features());
    for (const std::int64_t i : subject_.learnable.features()) {
      n_numeric_ += subject_.learnable.columns[static_cast<std::size_t>(i)].nominal() ? 0 : 1;
    }
  }

  std::int64_t n_features() const { return n_features_; }
  std::int64_t n_numeric() const { return n_numeric_; }

  CutsFound cuts() const {
    const Sample sample = take(rows_within(kRankedCells, n_features_));
    const double cells = static_cast<double>(sample.table.n_rows) * static_cast<double>(n_features_);
    CutsFound found;
    found.n_permutations = options_.n_permutations.value_or(permutations_within(cells));
    found.seed = options_.seed;
    found.rows = rows_words(sample, options_.seed);
    found.ranking = best_cuts(sample.table,
                              {.criterion = options_.criterion,
                               .missing = MissingPolicy::value,
                               .n_permutations = found.n_permutations,
                               .seed = options_.seed},
                              run_);
    found.criterion = options_.criterion;
    found.most = best_score(found.ranking, options_.criterion);
    found.command = command(
        "discretize", sample,
        {"--method", "best-cut", "--criterion", std::string(to_string(options_.criterion)), "--missing-policy", "value",
         "--permutations", std::to_string(found.n_permutations), "--seed", std::to_string(options_.seed)});
    return found;
  }

  NeighborsFound neighbors() const {
    const Sample sample = take(rows_of_pairs(n_features_));
    const std::int64_t n = sample.table.n_rows;
    NeighborsFound found;
    EvaluateOptions& how = found.options;
    how.knn = options_.knn;
    how.normalize = options_.normalize;
    how.seed = options_.seed;
    const bool alone = subject_.classifies() ? n <= kLeaveOneOut : n < 2 * kFolds;
    how.scheme = alone ? Scheme::leave_one_out : Scheme::cross_validation;
    how.n_folds = kFolds;
    how.ks = ks(alone ? n - 1 : n - (n + kFolds - 1) / kFolds);
    found.evaluation = evaluate(sample.table, how, run_);
    found.rows = rows_words(sample, options_.seed);
    compare_with(found, sample.table.columns[static_cast<std::size_t>(subject_.label)]);
    std::vector<std::string> words = {"--metric",    how.knn.metric.name,
                                      "--normalize", std::string(to_string(how.normalize.method)),
                                      "-k",          k_words(how.ks)};
    if (alone) words.emplace_back("--loo");
    if (!alone) words.insert(words.end(), {"--cv", std::to_string(kFolds), "--seed", std::to_string(options_.seed)});
    found.command = how.knn.metric.params.empty() && how.knn.feature_weights.empty()
                        ? command("evaluate", sample, words)
                        : std::string();
    return found;
  }

  TreeFound tree() const {
    const Sample sample = take(rows_within(kSortedCells, n_features_));
    TreeEvaluationOptions how;
    how.fit.tree.missing = MissingPolicy::value;
    how.fit.tree.criterion = options_.criterion;
    how.fit.tree.ccp_alpha = kCcpAlpha;
    how.fit.seed = how.seed = options_.seed;
    const bool prunes = sample.table.n_rows >= kFewestToPrune;
    if (prunes) how.fit.prune_holdout = kPruneHoldout;
    TreeFound found;
    found.tree = fit_tree(sample.table, how.fit, run_);
    found.rows = rows_words(sample, options_.seed);
    found.pruning = prunes ? fmt::format("{} of them took no part in the growth and pruned it (reduced error). ",
                                         percent(kPruneHoldout))
                           : std::string();
    found.pruning += fmt::format(
        "A split stays only if it spares mistakes on {} of the rows for each leaf that it adds.", percent(kCcpAlpha));
    const double cells = static_cast<double>(sample.table.n_rows) * static_cast<double>(n_features_);
    how.n_folds = folds_within(cells);
    if (how.n_folds > 0 && sample.table.n_rows >= 2 * how.n_folds) {
      found.scores = evaluate_tree(sample.table, how, run_);
      found.scheme = fmt::format("{}-fold cross-validation", how.n_folds);
    }
    std::vector<std::string> words = {"--criterion",      std::string(to_string(options_.criterion)),
                                      "--missing-policy", "value",
                                      "--ccp-alpha",      fmt::format("{:g}", kCcpAlpha)};
    if (prunes) words.insert(words.end(), {"--prune-holdout", fmt::format("{:g}", kPruneHoldout)});
    if (found.scores) words.insert(words.end(), {"--cv", std::to_string(how.n_folds)});
    words.insert(words.end(), {"--seed", std::to_string(options_.seed)});
    found.command = command("tree", sample, words);
    return found;
  }

  ComponentsFound components() const {
    const Sample sample = take(rows_of_products(n_numeric_));
    const double most = static_cast<double>(std::min(sample.table.n_rows, n_numeric_));
    PcaOptions how{.n_components = std::min(kComponents, most)};
    how.scaling = Scaling::z;
    how.missing = MissingValues::mean;
    how.nominal = NominalFeatures::skip;
    how.seed = options_.seed;
    ComponentsFound found;
    found.pca = Pca::fit(sample.table, how, run_);
    found.rows = rows_words(sample, options_.seed);
    found.method = "Each column is shifted and scaled to mean 0 and deviation 1." + gaps_and_names();
    const Sample drawn = sample_of(subject_, std::min(sample.table.n_rows, kMostPoints), options_.seed);
    const Column* label = subject_.label < 0 ? nullptr : &drawn.table.columns[static_cast<std::size_t>(subject_.label)];
    take_points(found, found.pca.transform(drawn.table, run_), label, subject_.classes);
    if (!drawn.whole()) found.points = "The figure shows " + rows_words(drawn, options_.seed) + ".";
    std::vector<std::string> words = {
        "--n-components", fmt::format("{:g}", how.n_components), "--normalize", "z", "--impute", "mean"};
    if (n_numeric_ < n_features_) words.emplace_back("--numeric-only");
    found.command = command("pca", sample, words);
    return found;
  }

  LinearFound linear() const {
    const Sample sample = take(rows_of_products(n_numeric_));
    if (sample.table.n_rows <= n_numeric_ + 1) {
      throw Error(ErrorCode::unsupported, "there are not more rows than columns, so a linear model fits every row");
    }
    LsqOptions how;
    how.standard_errors = true;
    how.missing = MissingValues::mean;
    how.nominal = NominalFeatures::skip;
    LinearFound found;
    found.model = LinearModel::fit(sample.table, how, run_);
    for (const std::string& name : found.model.feature_names()) {
      found.deviations.push_back(subject_.of(subject_.table.find(name)).deviation);
    }
    found.label = subject_.label_column()->name;
    found.rows = rows_words(sample, options_.seed);
    found.method = "The columns are taken as they are." + gaps_and_names();
    std::vector<std::string> words = {"--standard-errors", "--impute", "mean"};
    if (n_numeric_ < n_features_) words.emplace_back("--numeric-only");
    found.command = command("lsq", sample, words);
    return found;
  }

  std::vector<LabelCorrelation> correlations() const {
    return correlations_of(subject_.learnable, *subject_.label_column(), run_);
  }

 private:
  Sample take(std::int64_t most) const {
    if (options_.max_samples > 0) most = options_.max_samples;
    return sample_of(subject_, most, options_.seed);
  }

  // Those of the usual numbers that the training rows allow; no fewer than one.
  std::vector<std::int64_t> ks(std::int64_t most) const {
    if (!options_.ks.empty()) return options_.ks;
    std::vector<std::int64_t> possible;
    for (const std::int64_t k : {1, 3, 5, 7, 9, 11, 15, 21, 31, 51, 75, 101}) {
      if (k <= std::max<std::int64_t>(1, most / 2)) possible.push_back(k);
    }
    return possible;
  }

  static std::string k_words(const std::vector<std::int64_t>& ks) {
    std::string text;
    for (const std::int64_t k : ks) text += (text.empty() ? "" : ",") + std::to_string(k);
    return text;
  }

  std::string gaps_and_names() const {
    std::string text;
    std::int64_t gaps = 0;
    for (const std::int64_t i : subject_.learnable.features()) {
      if (!is_nominal(subject_.of(i).type)) gaps += subject_.of(i).missing;
    }
    if (gaps > 0) text += " The column's mean stands in for each of " + grouped(gaps, "missing value") + ".";
    if (n_numeric_ < n_features_) {
      text += " " + grouped(n_features_ - n_numeric_, "nominal column") +
              (n_features_ - n_numeric_ == 1 ? " takes no part." : " take no part.");
    }
    return text;
  }

  // What repeats a part. A sample, and a table without some of its rows, cannot be named on a command line.
  std::string command(const std::string& name, const Sample& sample, const std::vector<std::string>& options) const {
    if (!sample.whole() || subject_.n_without_label > 0 || options_.reading.empty()) return {};
    std::vector<std::string> words = {"stope", name};
    words.insert(words.end(), options_.reading.begin(), options_.reading.end());
    for (const LeftOut& one : subject_.left_out) {
      const bool list = one.name.find(',') != std::string::npos;  // a name with a comma reads as two
      words.emplace_back("--ignore");
      words.push_back(list ? std::to_string(subject_.table.find(one.name) + 1) : one.name);
    }
    words.insert(words.end(), options.begin(), options.end());
    return shell_line(words);
  }

  const Subject& subject_;
  const FindOptions& options_;
  const RunOptions& run_;
  std::int64_t n_features_ = 0, n_numeric_ = 0;
};

}  // namespace

Findings find_all(Subject subject, const FindOptions& options, const RunOptions& run, const Timed& timed) {
  Findings findings;
  findings.subject = std::move(subject);
  const Finder finder(findings.subject, options, run);
  const auto part = [&](const std::string& phase, auto& outcome, const auto& find) {
    run.cancel.check();
    timed(phase, [&] { outcome = attempt(find); });
  };
  if (finder.n_features() == 0) {
    const std::string why = "no column is left that a model could use";
    if (findings.subject.classifies()) findings.cuts.why = findings.tree.why = why;
    if (findings.subject.regresses()) findings.correlations.why = findings.linear.why = why;
    if (findings.subject.label >= 0) findings.neighbors.why = why;
    findings.components.why = why;
    return findings;
  }
  if (findings.subject.classifies()) {
    part("cuts", findings.cuts, [&] { return finder.cuts(); });
    part("tree", findings.tree, [&] { return finder.tree(); });
  }
  if (findings.subject.regresses() && finder.n_numeric() > 0) {
    part("correlations", findings.correlations, [&] { return finder.correlations(); });
    part("least squares", findings.linear, [&] { return finder.linear(); });
  }
  if (findings.subject.label >= 0) part("neighbours", findings.neighbors, [&] { return finder.neighbors(); });
  if (finder.n_numeric() > 1) part("components", findings.components, [&] { return finder.components(); });
  return findings;
}

}  // namespace stope::cli::page
