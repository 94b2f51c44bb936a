// What the named jobs make of their options and results: names and defaults, tables of pairs, counts and predictions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <sstream>

#include "expect_error.hpp"
#include "predict/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/knn_pairwise.hpp"
#include "stope/stats.hpp"

namespace stope {
namespace {

using testing_models::mixed_table;

// Front ends and the programs of users name these. A number is written as JSON writes it.
constexpr const char* kOptions = R"(
neighbors: metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none" normalize.min=0.0
normalize.max=1.0 compat="none" n_neighbors=5 weights="uniform" class_weight.NAME={} balanced=false
ranges=[]
classify: metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none" normalize.min=0.0
normalize.max=1.0 compat="none" n_neighbors=5 weights="uniform" class_weight.NAME={} balanced=false
ranges=[]
regress: metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none" normalize.min=0.0
normalize.max=1.0 compat="none" n_neighbors=5 weights="uniform" class_weight.NAME={} balanced=false
ranges=[]
pca: n_components=0.0 whiten=false centering="mean" scaling="none" missing="error" nominal="error"
tolerance=1e-12 max_iterations=500 seed=0
lsq: alpha=0.0 fit_intercept=true standard_errors=false missing="error" nominal="error" tolerance=1e-10
max_iterations=0
tree: missing="error" criterion="discernibility" max_depth=-1 min_samples_leaf=1 min_score=0.0
ccp_alpha=0.0 prune_holdout=0.0 class_weight.NAME={} balanced=false seed=0
cuts: method="md-global" missing="error" n_bins=5 max_cuts=0 confidence=0.9 min_intervals=3 style="codes"
normalize: method="z" min=0.0 max=1.0 compat="none"
impute: metric="nan-euclidean" metric.NAME={} feature_weights=[] normalize="none" normalize.min=0.0
normalize.max=1.0 n_neighbors=5 weights="uniform" strategy="mean" columns=[] indicators="none"
stats: extremes=false distinct=false quantiles=[] by=""
correlation: method="pearson"
histogram: bins=20
value_counts:
best_cuts: criterion="discernibility" missing="error" order="score" n_permutations=0 seed=0
find_cuts: method="md-global" missing="error" n_bins=5 max_cuts=0 confidence=0.9 min_intervals=3
evaluate: model="knn" metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none"
normalize.min=0.0 normalize.max=1.0 compat="none" metrics=[] normalizations=[] n_neighbors=[5.0]
weights="uniform" exclude_group="" scheme="cross-validation" n_folds=10 holdout=0.3 seed=0 n_repeats=1
missing="error" criterion="discernibility" max_depth=-1 min_samples_leaf=1 min_score=0.0 ccp_alpha=0.0
prune_holdout=0.0 class_weight.NAME={} balanced=false alpha=0.0 fit_intercept=true nominal="error"
confusion: model="knn" metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none"
normalize.min=0.0 normalize.max=1.0 compat="none" metrics=[] normalizations=[] n_neighbors=[5.0]
weights="uniform" exclude_group="" scheme="cross-validation" n_folds=10 holdout=0.3 seed=0 n_repeats=1
missing="error" criterion="discernibility" max_depth=-1 min_samples_leaf=1 min_score=0.0 ccp_alpha=0.0
prune_holdout=0.0 class_weight.NAME={} balanced=false alpha=0.0 fit_intercept=true nominal="error"
feature_ranges:
pairwise: metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none" normalize.min=0.0
normalize.max=1.0 compat="none" similarities=false n_neighbors=0 search_for="nearest"
run: threads=0 memory_limit="0" device="auto"
read: format="automatic" encoding="utf-8" separator="" decimal="" comment="" skip_lines=0 thousands=""
allow_ragged=false header="automatic" names=[] missing_values=["?","","NA","NaN"] schema=""
schema_part="train" target="" id="" sample_weight="" target_is_nominal=false select=[] ignore=[] nominal=[]
numeric=[] nominal_order="sorted" unknown_columns="error" date=[] n_features=0 dtype="float32" sheet=""
sample=0 sample_seed=0
arrow: target="" id="" sample_weight="" target_is_nominal=false select=[] ignore=[] nominal=[] numeric=[]
nominal_order="sorted" unknown_columns="error" memory="shared" source=""
apply: proba=false explain=false explain_attributes=5 n_neighbors=-1 weights=""
search: exclude_self=false first_query=-1 exclude_group=""
pairwise_distances: metric="mixed-euclidean" metric.NAME={} feature_weights=[] normalize="none"
normalize.min=0.0 normalize.max=1.0 compat="none" similarities=false
)";

std::string text_at(const Column& column, std::int64_t row) {
  return std::string(column.values[column.codes()[row]]);
}

TEST(NamedJobs, OptionsKeepTheirNamesAndDefaults) {
  std::istringstream words(kOptions);
  std::map<std::string, std::vector<std::string>> wanted;
  std::string job;
  for (std::string word; words >> word;) {
    if (word.back() == ':') {
      job = word.substr(0, word.size() - 1);
      wanted[job];
    } else {
      wanted[job].push_back(word);
    }
  }
  std::vector<std::string> jobs = model_kinds();
  for (const std::string& name : job_names()) jobs.push_back(name);
  for (const char* const name : {"run", "read", "arrow", "apply", "search", "pairwise_distances"})
    jobs.emplace_back(name);
  EXPECT_EQ(jobs.size(), wanted.size());
  for (const std::string& name : jobs) {
    std::vector<std::string> found;
    for (const auto& one : nlohmann::json::parse(describe_options(name))) {
      found.push_back(one["name"].get<std::string>() + "=" + one["default"].dump());
    }
    EXPECT_EQ(found, wanted[name]) << name;
  }
}

TEST(NamedJobs, StatisticsSayTheRoleOfEveryColumn) {
  const Table table = mixed_table(20, true), statistics = compute("stats", table);
  const Column& column = statistics.columns[static_cast<std::size_t>(statistics.find("column"))];
  const Column& role = statistics.columns[static_cast<std::size_t>(statistics.find("role"))];
  ASSERT_EQ(role.size(), statistics.n_rows);
  for (std::int64_t row = 0; row < statistics.n_rows; ++row) {
    const Column& of = table.columns[static_cast<std::size_t>(table.find(text_at(column, row)))];
    EXPECT_EQ(text_at(role, row), to_string(of.role)) << of.name;
  }
}

TEST(NamedJobs, ValuesOfNominalColumnsAreCounted) {
  const Table table = mixed_table(40, true), found = compute("value_counts", table);
  const Statistics expected = describe(table);
  std::int64_t at = 0;
  for (const ColumnStatistics& of : expected.columns) {
    for (std::size_t i = 0; i < of.counts.size(); ++i, ++at) {
      ASSERT_LT(at, found.n_rows);
      EXPECT_EQ(text_at(found.columns[0], at), of.name);
      EXPECT_EQ(text_at(found.columns[1], at), of.values[static_cast<std::int64_t>(i)]);
      EXPECT_EQ(found.columns[2].at(at), static_cast<double>(of.counts[i]));
    }
  }
  EXPECT_EQ(at, found.n_rows);
  EXPECT_GE(at, 40);  // each id once
}

TEST(NamedJobs, PairsAreThoseOfTheFunction) {
  const Table table = testing_models::numeric_table(9);
  const Table pairs = compute("pairwise", table, {.texts = {{"n_neighbors", "2"}}});
  PairwiseOptions options;
  options.n_neighbors = 2;
  const std::vector<CrossDistance> expected = cross_distances(table, table, options);
  ASSERT_EQ(pairs.n_rows, std::ssize(expected));
  for (std::int64_t i = 0; i < pairs.n_rows; ++i) {
    const CrossDistance& pair = expected[static_cast<std::size_t>(i)];
    EXPECT_EQ(pairs.columns[0].at(i), static_cast<double>(pair.request));
    EXPECT_EQ(pairs.columns[1].at(i), static_cast<double>(pair.document));
    EXPECT_EQ(pairs.columns[2].at(i), pair.distance);
  }
}

TEST(NamedJobs, PredictionsAreOneColumnAndKeepTheModelsVote) {
  const Table train = mixed_table(40, true), rows = mixed_table(9, true);
  const Predictor model = fit_model("classify", train, {.texts = {{"metric", "gower"}, {"weights", "distance"}}});
  const auto codes_of = [](const Table& table) {
    EXPECT_EQ(table.columns.size(), 1U);
    const Buffer<std::int32_t>& codes = table.columns[0].codes();
    return std::vector<std::int32_t>(codes.begin(), codes.end());
  };
  EXPECT_EQ(codes_of(apply_model(model, rows)), model.classify(rows).codes);
  const Table proba = apply_model(model, rows, {.texts = {{"n_neighbors", "4"}, {"proba", "true"}}});
  const Classification expected = model.with_vote(4, VoteWeights::distance).classify(rows);
  ASSERT_EQ(proba.columns.size(), 1 + expected.classes.size());
  const auto n_classes = static_cast<std::int64_t>(expected.classes.size());
  for (std::int64_t i = 0; i < rows.n_rows * n_classes; ++i) {
    EXPECT_EQ(proba.columns[static_cast<std::size_t>(1 + i % n_classes)].at(i / n_classes),
              expected.confidences[static_cast<std::size_t>(i)]);
  }
  const Predictor tree = fit_model("tree", train, {.texts = {{"missing", "value"}}});
  expect_error(ErrorCode::invalid_argument, "", [&] { apply_model(tree, rows, {.texts = {{"n_neighbors", "4"}}}); });
}

}  // namespace
}  // namespace stope
