// Errors of every job as data: a guest finds the file, the option, the column and the row without reading the sentence.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stope/stope.hpp"

namespace stope {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Table table_of(std::vector<Column> columns) {
  Table table;
  table.source = "t.csv";
  table.n_rows = columns.empty() ? 0 : columns[0].size();
  table.columns = std::move(columns);
  return table;
}

Column with_role(Column column, Role role) {
  column.role = role;
  return column;
}

Column x(const std::vector<double>& values = {1, 2, 3, 4}) {
  return make_numeric("x", values);
}

Column colour() {
  return make_nominal("colour", {0, 1, 0, 1}, {"blue", "red"});
}

Column classes(const std::vector<std::int32_t>& codes = {0, 1, 0, 1}) {
  return with_role(make_nominal("class", codes, {"no", "yes"}), Role::label);
}

Column target(const std::vector<double>& values = {1, 2, 3, 5}) {
  return with_role(make_numeric("y", values), Role::label);
}

Column weight(const std::vector<double>& values) {
  return with_role(make_numeric("w", values), Role::weight);
}

struct BadCall {
  const char* what;
  std::function<void()> call;
  ErrorCode code;
  Place place;  ///< line and column are not compared
};

void expect_places(const std::vector<BadCall>& calls) {
  for (const BadCall& bad : calls) {
    SCOPED_TRACE(bad.what);
    try {
      bad.call();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(to_string(error.code()), to_string(bad.code)) << error.what();
      EXPECT_EQ(error.file(), bad.place.file) << error.what();
      EXPECT_EQ(error.option(), bad.place.option) << error.what();
      EXPECT_EQ(error.feature(), bad.place.feature) << error.what();
      EXPECT_EQ(error.row(), bad.place.row) << error.what();
      EXPECT_FALSE(error.message().empty());
      // The message stands alone: what() is the place and the message, and nothing is said twice.
      EXPECT_TRUE(std::string(error.what()).ends_with(error.message())) << error.what();
      if (!bad.place.file.empty()) {
        EXPECT_EQ(error.message().find(bad.place.file), std::string::npos) << error.what();
      }
      if (!bad.place.feature.empty()) {
        EXPECT_NE(error.message().find(bad.place.feature), std::string::npos);
      }
    }
  }
}

constexpr auto kArgument = ErrorCode::invalid_argument;
constexpr auto kData = ErrorCode::invalid_data;
constexpr auto kUnsupported = ErrorCode::unsupported;

TEST(ErrorPlaces, OfARunNameTheOption) {
  const Table good = table_of({x(), classes()});
  const auto describe_on = [&](const std::string& device) {
    return [&, device] { describe(good, {}, {.device = device}); };
  };
  expect_places(
      {{"an unknown device", describe_on("gpu"), kArgument, {.option = "device"}},
       {"no list of GPUs", describe_on("cuda:x"), kArgument, {.option = "device"}},
       {"a negative limit", [] { memory_budget({.memory_limit = -1}); }, kArgument, {.option = "memory_limit"}}});
}

TEST(ErrorPlaces, OfNeighborsNameOptionColumnAndRow) {
  const Table good = table_of({x(), classes()});
  const Table mixed = table_of({x(), colour()});
  const KnnIndex index = KnnIndex::fit(good);
  const auto search = [&](const SearchOptions& options) { return [&, options] { index.kneighbors(good, options); }; };
  const auto fit = [](const Table& table, const KnnOptions& options) {
    return [&table, options] { KnnIndex::fit(table, options); };
  };
  const Table zero = table_of({x({1, 2, 0, 4})});
  const Table renamed = table_of({make_numeric("z", {1})}), retyped = table_of({make_nominal("x", {0}, {"a"})});
  expect_places(
      {{"k = 0", search({.n_neighbors = 0}), kArgument, {.option = "n_neighbors"}},
       {"k > n", search({.n_neighbors = 5}), kArgument, {.option = "n_neighbors"}},
       {"no such group",
        search({.n_neighbors = 2, .exclude_group = "g"}),
        kArgument,
        {.file = "t.csv", .option = "exclude_group"}},
       {"a radius that is no number",
        [&] { index.radius_neighbors(good, kNan, {}, {}, [](const auto&...) {}); },
        kArgument,
        {.option = "radius"}},
       {"an unknown metric", fit(good, {.metric = {"euclidian", {}}}), kArgument, {.option = "metric"}},
       {"an unknown parameter",
        fit(good, {.metric = {"euclidean", {{"p", "2"}}}}),
        kArgument,
        {.option = "metric_params"}},
       {"a bad parameter", fit(good, {.metric = {"minkowski", {{"p", "-2"}}}}), kArgument, {.option = "metric_params"}},
       {"a nominal column",
        fit(mixed, {.metric = {"euclidean", {}}}),
        kUnsupported,
        {.file = "t.csv", .option = "metric", .feature = "colour"}},
       {"a value outside the measure's domain",
        fit(zero, {.metric = {"itakura-saito", {}}}),
        kUnsupported,
        {.file = "t.csv", .option = "metric", .feature = "x", .row = 2}},
       {"two weights for one feature",
        fit(good, {.feature_weights = {1, 2}}),
        kArgument,
        {.option = "feature_weights"}},
       {"a negative weight", fit(good, {.feature_weights = {-1}}), kArgument, {.option = "feature_weights"}},
       {"an attribute is absent",
        [&] { index.kneighbors(renamed, {.n_neighbors = 1}); },
        kData,
        {.file = "t.csv", .option = "test_names", .feature = "x"}},
       {"an attribute of another type",
        [&] { index.kneighbors(retyped, {.n_neighbors = 1}); },
        kData,
        {.file = "t.csv", .feature = "x"}}});
}

TEST(ErrorPlaces, OfVotesAndEvaluationNameOptionColumnAndRow) {
  const Table good = table_of({x(), classes()});
  const Table missing_label = table_of({x(), classes({0, 1, kMissingCode, 1})});
  const Table bad_weight = table_of({x(), classes(), weight({1, 2, 3, -1})});
  const Table regression = table_of({x(), target({1, 2, kNan, 4})});
  const auto evaluate_with = [&](const EvaluateOptions& options) { return [&, options] { evaluate(good, options); }; };
  expect_places(
      {{"a missing label",
        [&] { KnnClassifier::fit(missing_label); },
        kData,
        {.file = "t.csv", .feature = "class", .row = 2}},
       {"a missing target", [&] { KnnRegressor::fit(regression); }, kData, {.file = "t.csv", .feature = "y", .row = 2}},
       {"a negative weight",
        [&] { KnnClassifier::fit(bad_weight); },
        kData,
        {.file = "t.csv", .feature = "w", .row = 3}},
       {"a numeric label",
        [&] { KnnClassifier::fit(regression); },
        kUnsupported,
        {.file = "t.csv", .option = "nominal", .feature = "y"}},
       {"evaluation of a missing label",
        [&] { evaluate(missing_label, {.knn = {}, .normalize = {}, .scheme = Scheme::leave_one_out}); },
        kData,
        {.file = "t.csv", .feature = "class", .row = 2}},
       {"no k", evaluate_with({.knn = {}, .normalize = {}, .n_folds = 2, .ks = {}}), kArgument, {.option = "ks"}},
       {"k = 0", evaluate_with({.knn = {}, .normalize = {}, .n_folds = 2, .ks = {0}}), kArgument, {.option = "ks"}},
       {"one fold", evaluate_with({.knn = {}, .normalize = {}, .n_folds = 1}), kArgument, {.option = "n_folds"}},
       {"all rows held out",
        evaluate_with({.knn = {}, .normalize = {}, .scheme = Scheme::holdout, .holdout = 1.0}),
        kArgument,
        {.option = "holdout"}},
       {"groups in folds",
        evaluate_with({.knn = {}, .normalize = {}, .n_folds = 2, .exclude_group = "class"}),
        kArgument,
        {.option = "exclude_group"}}});
}

TEST(ErrorPlaces, OfStatisticsAndNormalisationNameOptionColumnAndRow) {
  const Table good = table_of({x(), classes()});
  const Table infinite = table_of({x({1, kInfinity, 3, 4})});
  const Table nominal = table_of({make_nominal("x", {0, 0, 0, 0}, {"a"})});
  const Table zeros = table_of({x({1, -1, 1, -1})});
  const auto normalise = [](const Table& table, const NormalizeOptions& options) {
    return [&table, options] { Normalizer::fit(table, options); };
  };
  expect_places({{"bins", [&] { describe(good, {.histogram_bins = -1}); }, kArgument, {.option = "histogram_bins"}},
                 {"no such class", [&] { describe(good, {.by = "z"}); }, kArgument, {.file = "t.csv", .option = "by"}},
                 {"numeric classes",
                  [&] { describe(good, {.by = "x"}); },
                  kArgument,
                  {.file = "t.csv", .option = "by", .feature = "x"}},
                 {"an unknown method", [] { normalization("zz"); }, kArgument, {.option = "method"}},
                 {"an empty range",
                  normalise(good, {.method = Normalization::range, .min = 1, .max = 0}),
                  kArgument,
                  {.option = "min"}},
                 {"an infinity",
                  normalise(infinite, {.method = Normalization::z}),
                  kData,
                  {.file = "t.csv", .feature = "x", .row = 1}},
                 {"an infinity in a sorted column",
                  normalise(infinite, {.method = Normalization::interquartile}),
                  kData,
                  {.file = "t.csv", .feature = "x", .row = 1}},
                 {"no proportions",
                  normalise(zeros, {.method = Normalization::proportion}),
                  kData,
                  {.file = "t.csv", .feature = "x"}},
                 {"a column that became nominal",
                  [&] { Normalizer::fit(good, {.method = Normalization::z}).apply(nominal); },
                  kData,
                  {.file = "t.csv", .feature = "x"}}});
}

TEST(ErrorPlaces, OfDecompositionsNameOptionColumnAndRow) {
  const Table good = table_of({x(), make_numeric("z", {4, 1, 3, 2}), target()});
  const Table holes = table_of({x({1, 2, kNan, 4}), target()});
  const Table infinite = table_of({x({1, 2, 3, kInfinity}), target()});
  const Table nominal = table_of({x(), colour(), target()});
  const Table words = table_of({x(), classes()});
  const Table weights = table_of({x(), target(), weight({1, 1, kNan, 1})});
  expect_places(
      {{"components", [&] { Pca::fit(good, {.n_components = 7}); }, kArgument, {.option = "n_components"}},
       {"whiten without a centre",
        [&] { Pca::fit(good, {.whiten = true, .centering = Centering::none}); },
        kArgument,
        {.option = "whiten"}},
       {"a missing value",
        [&] { Pca::fit(holes, {}); },
        kData,
        {.file = "t.csv", .option = "missing", .feature = "x", .row = 2}},
       {"an infinite value", [&] { Pca::fit(infinite, {}); }, kData, {.file = "t.csv", .feature = "x", .row = 3}},
       {"a nominal attribute",
        [&] { Pca::fit(nominal, {}); },
        kUnsupported,
        {.file = "t.csv", .option = "nominal", .feature = "colour"}},
       {"a new table lacks an attribute",
        [&] { Pca::fit(good, {}).transform(holes); },
        kData,
        {.file = "t.csv", .feature = "z"}},
       {"alpha", [&] { LinearModel::fit(good, {.alpha = -1}); }, kArgument, {.option = "alpha"}},
       {"errors of a ridge",
        [&] { LinearModel::fit(good, {.alpha = 1, .standard_errors = true}); },
        kArgument,
        {.option = "alpha"}},
       {"a nominal target", [&] { LinearModel::fit(words, {}); }, kUnsupported, {.file = "t.csv", .feature = "class"}},
       {"a missing weight", [&] { LinearModel::fit(weights, {}); }, kData, {.file = "t.csv", .feature = "w", .row = 2}},
       {"a name", [] { scaling("zz"); }, kArgument, {.option = "scaling"}}});
}

TEST(ErrorPlaces, OfCutsAndTreesNameOptionColumnAndRow) {
  const Table good = table_of({x(), classes()});
  const Table holes = table_of({x({1, kNan, 3, 4}), classes()});
  const Table numbers = table_of({x(), target()});
  const Table missing_label = table_of({x(), classes({0, 1, 0, kMissingCode})});
  CutSet cuts;
  cuts.push_back({"z", false, {1.0}, {}});
  const auto find = [&](const DiscretizeOptions& options) { return [&, options] { find_cuts(good, options); }; };
  const auto grow = [&](const TreeOptions& options) { return [&, options] { DecisionTree::fit(good, options); }; };
  expect_places(
      {{"a missing value",
        [&] { best_cuts(holes); },
        kData,
        {.file = "t.csv", .option = "missing", .feature = "x", .row = 1}},
       {"a missing label", [&] { best_cuts(missing_label); }, kData, {.file = "t.csv", .feature = "class", .row = 3}},
       {"a numeric label",
        [&] { best_cuts(numbers); },
        kArgument,
        {.file = "t.csv", .option = "nominal", .feature = "y"}},
       {"permutations", [&] { best_cuts(good, {.n_permutations = -1}); }, kArgument, {.option = "n_permutations"}},
       {"bins", find({.method = DiscretizeMethod::equal_width, .n_bins = 0}), kArgument, {.option = "n_bins"}},
       {"cuts", find({.max_cuts = -1}), kArgument, {.option = "max_cuts"}},
       {"a confidence",
        find({.method = DiscretizeMethod::chimerge, .confidence = 2}),
        kArgument,
        {.option = "confidence"}},
       {"intervals",
        find({.method = DiscretizeMethod::chimerge, .min_intervals = 0}),
        kArgument,
        {.option = "min_intervals"}},
       {"cuts of an absent column", [&] { apply_cuts(good, cuts); }, kData, {.file = "t.csv", .feature = "z"}},
       {"a name", [] { criterion("zz"); }, kArgument, {.option = "criterion"}},
       {"another name", [] { missing_policy("zz"); }, kArgument, {.option = "missing"}},
       {"depth", grow({.max_depth = -1}), kArgument, {.option = "max_depth"}},
       {"leaves", grow({.min_samples_leaf = 0}), kArgument, {.option = "min_samples_leaf"}},
       {"pruning", grow({.ccp_alpha = -1}), kArgument, {.option = "ccp_alpha"}},
       {"a class that is not there", grow({.class_weights = {{"maybe", 1.0}}}), kArgument, {.option = "class_weights"}},
       {"a missing value in a prediction",
        [&] { DecisionTree::fit(good).predict(holes); },
        kData,
        {.file = "t.csv", .option = "missing", .feature = "x", .row = 1}}});
}

TEST(ErrorPlaces, OfTablesNameColumnAndRow) {
  Table twice = table_of({x(), x()}), ragged = table_of({x(), make_numeric("z", {1})});
  expect_places({{"two columns of a name", [&] { twice.validate(); }, kArgument, {.feature = "x"}},
                 {"columns of different lengths", [&] { ragged.validate(); }, kArgument, {.feature = "z"}},
                 {"a code outside the values",
                  [] { make_nominal("colour", {0, 2}, {"blue", "red"}); },
                  kArgument,
                  {.feature = "colour", .row = 1}},
                 {"a kind of table",
                  [] { TableGenerator({.kind = "blob", .n_columns = 2, .n_rows = 2}); },
                  kArgument,
                  {.option = "kind"}},
                 {"no rows", [] { TableGenerator({.n_columns = 2, .n_rows = 0}); }, kArgument, {.option = "n_rows"}}});
}

}  // namespace
}  // namespace stope
