// The names, types and meanings of all options (src/jobs/job_options.hpp).
#include "jobs/job_options.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "stope/error.hpp"
#include "stope/words.hpp"

namespace stope::jobs {
namespace {

constexpr const char* kMissing = "what a missing value of an attribute means";

}  // namespace

void visit_seed(Visitor& visitor, std::uint64_t& seed, const char* help) {
  auto number = static_cast<std::int64_t>(seed);
  visitor.integer("seed", number, help);
  if (number < 0) throw Error(ErrorCode::invalid_argument, "seed is negative", {.option = "seed"});
  seed = static_cast<std::uint64_t>(number);
}

namespace {

// The roles and types of columns, which readers and Arrow tables take alike.
template <class Read>
void visit_columns(Visitor& visitor, Read& read) {
  visitor.text("target", read.target, "the label");
  visitor.text("id", read.id, "a column that names the rows");
  visitor.text("sample_weight", read.sample_weight, "weights of the rows");
  visitor.flag("target_is_nominal", read.target_is_nominal, "a target of numbers becomes nominal");
  visitor.list("ignore", read.ignore, "columns to leave out");
  visitor.list("nominal", read.nominal, "columns that are nominal");
  visitor.list("numeric", read.numeric, "columns that are numbers");
  visitor.choice("nominal_order", read.nominal_order, nominal_order, "order of values that nothing else orders");
  visitor.choice("unknown_columns", read.unknown_columns, unknown_columns, "what an option that names no column does");
}

template <class Job>
std::string described() {
  Describer describer;
  Job().visit(describer);
  return describer.json();
}

}  // namespace

void RunSettings::visit(Visitor& visitor) {
  visitor.integer("threads", threads, "worker threads; 0 = as many as the process may use");
  visitor.text("memory_limit", memory_limit, "bytes, or a size such as 2GB; 0 = 80 % of what is available");
  visitor.text("device", device, "auto, cpu, cuda, cuda:0,1 or cuda:GPU-<uuid>");
}

void ArrowJob::visit(Visitor& visitor) {
  visit_columns(visitor, arrow);
  std::string memory = arrow.memory == ArrowMemory::shared ? "shared" : "copied";
  visitor.one_of("memory", memory, {"shared", "copied"},
                 "shared: nobody changes the buffers while the table lives; copied: they go back");
  arrow.memory = memory == "shared" ? ArrowMemory::shared : ArrowMemory::copied;
  visitor.text("source", arrow.source, "what messages call the data");
}

void ReadJob::visit(Visitor& visitor) {
  visitor.choice("format", read.format, table_format, "format of the file; automatic: by its suffix");
  visitor.choice("encoding", read.encoding, encoding, "encoding of a text");
  visitor.character("separator", read.separator, "separator of CSV fields; empty = found");
  visitor.character("decimal", read.decimal, "decimal mark; empty = found");
  visitor.character("comment", read.comment, "lines that begin with it are no records");
  visitor.integer("skip_lines", read.skip_lines, "lines before the table");
  visitor.choice("header", read.header, header, "whether the first record holds names");
  visitor.list("names", read.names, "names of all columns");
  visitor.list("missing_values", read.missing, "spellings of a missing value");
  visitor.text("schema", read.schema, "path of a schema file");
  visitor.one_of("schema_part", read.schema_part, {"train", "test"}, "which list of a schema that has both");
  visit_columns(visitor, read);
  visitor.list("date", read.date, "columns that are ISO dates");
  visitor.integer("n_features", read.n_features, "columns of a raw array");
  visitor.text("dtype", read.dtype, "type of a raw array's values");
}

void DistanceOptions::visit(Visitor& visitor) {
  visitor.text("metric", knn.metric.name, "name of the measure; stope_metrics() lists them");
  visitor.named("metric", knn.metric.params, "a parameter of the measure, as metric.p");
  visitor.numbers("feature_weights", knn.feature_weights, "one weight a feature, in their order");
  visitor.choice("normalize", normalize.method, normalization, "normalise numeric features first");
  visitor.real("normalize.min", normalize.min, "range: the lowest value");
  visitor.real("normalize.max", normalize.max, "range: the highest value");
  visitor.choice("compat", knn.compat, compat, "whose rules decide ties, votes and missing values");
  normalize.compat = knn.compat;
}

void KnnJob::visit(Visitor& visitor) {
  distance.visit(visitor);
  visitor.integer("n_neighbors", vote.n_neighbors, "neighbours that vote, or that a list has");
  visitor.choice("weights", vote.weights, vote_weights, "votes: all the same, or by distance");
  class_weights.visit(visitor);
  visitor.numbers("ranges", ranges, "of a part of a table: low and high of each numeric feature of the whole");
}

KnnOptions KnnJob::options(const Table& train) const {
  KnnOptions knn = distance.knn;
  class_weights.set(knn);
  if (ranges.empty()) return knn;
  std::size_t at = 0;
  for (const std::int64_t feature : train.features()) {
    const Column& column = train.columns[static_cast<std::size_t>(feature)];
    if (column.nominal()) continue;
    if (at + 2 <= ranges.size()) knn.ranges.features.push_back({column.name, ranges[at], ranges[at + 1]});
    at += 2;
  }
  if (at == ranges.size()) return knn;
  throw Error(
      ErrorCode::invalid_argument,
      "ranges has " + std::to_string(ranges.size()) + " numbers, and the numeric features need " + std::to_string(at),
      {.option = "ranges"});
}

void PairwiseMatrixJob::visit(Visitor& visitor) {
  distance.visit(visitor);
  visitor.flag("similarities", similarities, "similarities in place of distances");
}

void PairwiseJob::visit(Visitor& visitor) {
  matrix.visit(visitor);
  visitor.integer("n_neighbors", pairwise.n_neighbors, "only so many pairs of each row; 0 = all");
  visitor.choice("search_for", pairwise.search_for, search_for, "which pairs");
}

void StatsJob::visit(Visitor& visitor) {
  visitor.flag("extremes", extremes, "only count, missing, zeros, min and max");
  visitor.flag("distinct", distinct, "count the different values of numeric columns");
  visitor.text("by", by, "a nominal column: statistics of each of its classes of rows");
}

StatsOptions StatsJob::options() const {
  StatsOptions options;
  if (extremes) options.depth = StatsOptions::Depth::extremes;
  if (distinct) options.distinct = StatsOptions::Distinct::count;
  options.by = by;
  return options;
}

void HistogramJob::visit(Visitor& visitor) {
  visitor.integer("bins", bins, "bins of equal width");
}

void NoOptions::visit(Visitor& /*visitor*/) {}

void BestCutsJob::visit(Visitor& visitor) {
  visitor.choice("criterion", cuts.criterion, criterion, "what a cut is worth");
  visitor.choice("missing", cuts.missing, missing_policy, kMissing);
  visitor.choice("order", cuts.order, attribute_order, "order of the attributes");
  visitor.integer("n_permutations", cuts.n_permutations, "permutations of the labels, for p- and q-values");
  visit_seed(visitor, cuts.seed, "of the permutations");
}

void FindCutsJob::visit(Visitor& visitor) {
  visitor.choice("method", cuts.method, discretize_method, "how cuts are found");
  visitor.choice("missing", cuts.missing, missing_policy, kMissing);
  visitor.integer("n_bins", cuts.n_bins, "equal-width, equal-frequency: bins, at most");
  visitor.integer("max_cuts", cuts.max_cuts, "md-global: at most so many; 0 = as many as are needed");
  visitor.real("confidence", cuts.confidence, "chimerge: neighbours that differ at this level stay apart");
  visitor.integer("min_intervals", cuts.min_intervals, "chimerge: at least so many intervals");
}

void CutsJob::visit(Visitor& visitor) {
  find.visit(visitor);
  visitor.choice("style", style, code_style, "how coded values are spelled");
}

void PcaJob::visit(Visitor& visitor) {
  visitor.real("n_components", pca.n_components, "how many; below 1: as many as explain this share; 0 = all");
  visitor.flag("whiten", pca.whiten, "divide scores by their standard deviations");
  visitor.choice("centering", pca.centering, centering, "none: a truncated singular value decomposition");
  visitor.choice("scaling", pca.scaling, scaling, "how columns are scaled");
  visitor.choice("missing", pca.missing, missing_values, kMissing);
  visitor.choice("nominal", pca.nominal, nominal_features, "what a nominal attribute means");
  visitor.real("tolerance", pca.tolerance, "block Lanczos: residual as a share of the largest eigenvalue");
  visitor.integer("max_iterations", pca.max_iterations, "block Lanczos: restarts");
  visit_seed(visitor, pca.seed, "block Lanczos: first directions");
}

void LsqJob::visit(Visitor& visitor) {
  visitor.real("alpha", lsq.alpha, "ridge: weight of the coefficients' squares");
  visitor.flag("fit_intercept", lsq.fit_intercept, "fit an intercept");
  visitor.flag("standard_errors", lsq.standard_errors, "compute the coefficients' standard errors");
  visitor.choice("missing", lsq.missing, missing_values, kMissing);
  visitor.choice("nominal", lsq.nominal, nominal_features, "what a nominal attribute means");
  visitor.real("tolerance", lsq.tolerance, "lsqr: bound of the residual's angle with the columns");
  visitor.integer("max_iterations", lsq.max_iterations, "lsqr: steps; 0 = as many as the size suggests");
}

void ClassWeightOptions::visit(Visitor& visitor) {
  visitor.named("class_weight", by_name, "the weight of a class, as class_weight.sick; others weigh 1");
  visitor.flag("balanced", balanced, "classes weigh inversely to their rows");
}

std::vector<std::pair<std::string, double>> ClassWeightOptions::weights() const {
  std::vector<std::pair<std::string, double>> weights;
  weights.reserve(by_name.size());
  for (const auto& [name, word] : by_name) weights.emplace_back(name, parse_real(word, "class_weight"));
  return weights;
}

void visit_tree(Visitor& visitor, TreeFitOptions& fit) {
  TreeOptions& tree = fit.tree;
  visitor.choice("criterion", tree.criterion, criterion, "what a split is worth");
  visitor.optional_integer("max_depth", tree.max_depth, "the root has depth 0; -1 = any");
  visitor.integer("min_samples_leaf", tree.min_samples_leaf, "rows of a leaf, at least");
  visitor.real("min_score", tree.min_score, "what a split must be worth");
  visitor.real("ccp_alpha", tree.ccp_alpha, "cost-complexity pruning: what a leaf costs");
  visitor.real("prune_holdout", fit.prune_holdout, "share of the rows that prunes; 0 = none");
}

void TreeJob::visit(Visitor& visitor) {
  visitor.choice("missing", fit.tree.missing, missing_policy, kMissing);
  visit_tree(visitor, fit);
  class_weights.visit(visitor);
  visit_seed(visitor, fit.seed, "of the choice of these rows");
}

TreeFitOptions TreeJob::options() const {
  TreeFitOptions options = fit;
  class_weights.set(options.tree);
  return options;
}

void NormalizeJob::visit(Visitor& visitor) {
  visitor.choice("method", normalize.method, normalization, "how columns are normalised");
  visitor.real("min", normalize.min, "range: the lowest value");
  visitor.real("max", normalize.max, "range: the highest value");
  visitor.choice("compat", normalize.compat, compat, "whose rules: stope's, or RapidMiner's");
}

void ApplyJob::visit(Visitor& visitor) {
  visitor.flag("proba", proba, "a confidence of every class, too");
  visitor.flag("explain", explain, "in place of predictions, what decided them: neighbours, rules or contributions");
  visitor.integer("explain_attributes", explain_attributes, "k-NN: attributes of each neighbour, largest share first");
  visitor.optional_integer("n_neighbors", n_neighbors, "k-NN: neighbours that vote, in place of the model's");
  Names choices = names_of<VoteWeights>();
  choices.emplace_back();
  visitor.one_of("weights", weights, choices, "k-NN: votes, in place of the model's; empty = the model's");
}

void NeighborsJob::visit(Visitor& visitor) {
  visitor.flag("exclude_self", search.exclude_self, "the rows are training rows, and none is its own neighbour");
  visitor.integer("first_query", search.first_query, "row i is training row first_query + i; -1 = all rows");
  visitor.text("exclude_group", search.exclude_group, "rows with the same value of this column are no neighbours");
}

}  // namespace stope::jobs

std::string_view stope::describe_options(std::string_view job) {
  using namespace stope::jobs;
  struct Description {
    std::string_view job;
    std::string json;
  };
  static const std::array all = {Description{"run", described<RunSettings>()},
                                 Description{"read", described<ReadJob>()},
                                 Description{"arrow", described<ArrowJob>()},
                                 Description{"stats", described<StatsJob>()},
                                 Description{"histogram", described<HistogramJob>()},
                                 Description{"value_counts", described<NoOptions>()},
                                 Description{"best_cuts", described<BestCutsJob>()},
                                 Description{"find_cuts", described<FindCutsJob>()},
                                 Description{"evaluate", described<EvaluateJob>()},
                                 Description{"confusion", described<EvaluateJob>()},
                                 Description{"feature_ranges", described<NoOptions>()},
                                 Description{"pairwise", described<PairwiseJob>()},
                                 Description{"pairwise_distances", described<PairwiseMatrixJob>()},
                                 Description{"neighbors", described<KnnJob>()},
                                 Description{"classify", described<KnnJob>()},
                                 Description{"regress", described<KnnJob>()},
                                 Description{"pca", described<PcaJob>()},
                                 Description{"lsq", described<LsqJob>()},
                                 Description{"tree", described<TreeJob>()},
                                 Description{"cuts", described<CutsJob>()},
                                 Description{"normalize", described<NormalizeJob>()},
                                 Description{"apply", described<ApplyJob>()},
                                 Description{"search", described<NeighborsJob>()}};
  for (const Description& one : all) {
    if (one.job == job) return one.json;
  }
  return {};
}
