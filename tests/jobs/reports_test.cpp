// Warnings and reports of every job: handed to the thread that called it, as data, as JSON and as text.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stope/stope.hpp"

namespace stope {
namespace {

Table table_of(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.empty() ? 0 : columns[0].size();
  table.columns = std::move(columns);
  return table;
}

Column with_role(Column column, Role role) {
  column.role = role;
  return column;
}

// Two features whose ranges are 1000 times apart, and classes that they tell apart.
Table wide() {
  return table_of({make_numeric("x", {1, 2, 3, 4, 5, 6}), make_numeric("y", {1000, 5000, 3000, 2000, 1500, 2500}),
                   with_role(make_nominal("class", {0, 0, 0, 1, 1, 1}, {"no", "yes"}), Role::label)});
}

struct Heard {
  std::vector<std::pair<std::string, std::string>> warnings;
  std::vector<std::string> jobs, json, text;
};

Heard hear(const std::function<void(const RunOptions&)>& job, int threads = 2) {
  Heard heard;
  const std::thread::id caller = std::this_thread::get_id();
  RunOptions run;
  run.threads = threads;
  run.warn = [&](std::string_view code, std::string_view text) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    heard.warnings.emplace_back(code, text);
  };
  run.report = [&](const Report& report) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    heard.jobs.emplace_back(report.job());
    heard.json.push_back(report.to_json());
    heard.text.push_back(report.to_text());
    EXPECT_GE(report.backend().seconds, 0.0);
  };
  job(run);
  return heard;
}

TEST(Warnings, SayOnceThatRangesAreFarApart) {
  const Table table = wide();
  const auto expect_one = [](const Heard& heard) {
    ASSERT_EQ(heard.warnings.size(), 1U);
    EXPECT_EQ(heard.warnings[0].first, warning::kRangesApart);
    EXPECT_EQ(heard.warnings[0].second,
              "the range of 'y' (4000) is 800 times that of 'x' (5) and will dominate the distance: normalise the "
              "features, or weight them");
  };
  expect_one(hear([&](const RunOptions& run) { KnnIndex::fit(table, {}, run); }));
  expect_one(hear([&](const RunOptions& run) { KnnClassifier::fit(table, {}, run); }));
  expect_one(hear(
      [&](const RunOptions& run) { evaluate(table, {.knn = {}, .normalize = {}, .n_folds = 3, .ks = {1}}, run); }));
  expect_one(hear([&](const RunOptions& run) {
    evaluate(table, {.knn = {}, .normalize = {}, .scheme = Scheme::leave_one_out, .ks = {1}}, run);
  }));
  PairwiseOptions all, nearest;
  nearest.n_neighbors = 2;
  const auto ignore = [](const auto&) {};
  expect_one(hear([&](const RunOptions& run) { pairwise_distances(table, table, all, run, ignore); }));
  expect_one(hear([&](const RunOptions& run) { cross_distances(table, table, all, run); }));
  expect_one(hear([&](const RunOptions& run) { cross_distances(table, table, nearest, run); }));
  const std::vector<double> rows = {1, 1000, 2, 5000, 3, 3000, 4, 2000, 5, 1500, 6, 2500};
  const auto of_array = [&](const KnnOptions& options, std::shared_ptr<const void> owner) {
    return hear([&](const RunOptions& run) {
      ArrayView array{rows.data(), ElementType::float64, 6, 2};
      array.owner = owner;
      KnnIndex::fit(array, options, run);
    });
  };
  for (const Heard& heard : {of_array({}, nullptr), of_array({}, std::shared_ptr<const void>(&rows, [](auto) {}))}) {
    ASSERT_EQ(heard.warnings.size(), 1U);
    EXPECT_TRUE(heard.warnings[0].second.starts_with("the range of 'x1' (4000) is 800 times that of 'x0' (5)"));
  }
  EXPECT_TRUE(of_array({.feature_weights = {1, 0.001}}, nullptr).warnings.empty());
  const KnnOptions gower{.metric = {"gower", {}}}, weighted{.feature_weights = {1, 0.001}};
  EXPECT_TRUE(hear([&](const RunOptions& run) { KnnIndex::fit(table, gower, run); }).warnings.empty());
  EXPECT_TRUE(hear([&](const RunOptions& run) { KnnIndex::fit(table, weighted, run); }).warnings.empty());
  EXPECT_TRUE(hear([&](const RunOptions& run) {
                evaluate(table, {.knn = {}, .normalize = {.method = Normalization::range}, .n_folds = 3, .ks = {1}},
                         run);
              }).warnings.empty());
}

TEST(Warnings, OfAPartOfATableAreAboutTheRangesOfTheWhole) {
  const Table table = wide();
  const Table part = table.take({0, 3, 4});  // y from 1000 to 2000
  const KnnOptions of_whole{.ranges = feature_ranges(table)};
  const Heard heard = hear([&](const RunOptions& run) { KnnIndex::fit(part, of_whole, run); });
  ASSERT_EQ(heard.warnings.size(), 1U);
  EXPECT_TRUE(heard.warnings[0].second.starts_with("the range of 'y' (4000) is 800 times that of 'x' (5)"));
}

TEST(Warnings, LeaveOutConstantsAndInfiniteValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Table table = table_of(
      {make_numeric("x", {1, 2, 3}), make_numeric("constant", {7, 7, 7}), make_numeric("infinite", {1, infinity, 2})});
  EXPECT_TRUE(hear([&](const RunOptions& run) { KnnIndex::fit(table, {}, run); }).warnings.empty());
}

TEST(Warnings, SayThatFeaturesDependOnOneAnother) {
  const Table table = table_of({make_numeric("x", {1, 2, 3, 4, 5}), make_numeric("z", {2, 4, 6, 8, 10}),
                                with_role(make_numeric("y", {1, 2, 4, 3, 5}), Role::label)});
  const Heard heard = hear([&](const RunOptions& run) { LinearModel::fit(table, {}, run); });
  ASSERT_EQ(heard.warnings.size(), 1U);
  EXPECT_EQ(heard.warnings[0].first, warning::kRankDeficient);
  EXPECT_EQ(heard.warnings[0].second,
            "the attributes depend on one another (rank 1 of 2): of all solutions this is the shortest");
}

TEST(Warnings, SayThatRowsAreInNoClass) {
  Table table = wide();
  table.columns[2] = with_role(make_nominal("class", {0, 0, kMissingCode, 1, 1, 1}, {"no", "yes"}), Role::label);
  const Heard heard = hear([&](const RunOptions& run) { describe(table, {.by = "class"}, run); });
  ASSERT_EQ(heard.warnings.size(), 1U);
  EXPECT_EQ(heard.warnings[0].first, warning::kRowsWithoutClass);
  EXPECT_EQ(heard.warnings[0].second, "1 of 6 rows have no value of 'class' and are in no class");
}

TEST(Reports, ComeFromEveryJobAndTheLastIsTheCalls) {
  const Table table = wide();
  Table numbers = table;
  numbers.columns.erase(numbers.columns.begin() + 2);
  Table line = numbers;
  line.columns[1].role = Role::label;
  const KnnClassifier classifier = KnnClassifier::fit(table);
  const Normalizer normalizer = Normalizer::fit(table, {.method = Normalization::z});
  const Pca pca = Pca::fit(numbers, {});
  const LinearModel model = LinearModel::fit(line, {});
  const DecisionTree tree = DecisionTree::fit(table);
  const CutSet cuts = find_cuts(table, {});
  const std::vector<std::pair<std::string, std::function<void(const RunOptions&)>>> jobs = {
      {"fit", [&](const RunOptions& run) { KnnIndex::fit(table, {}, run); }},
      {"search", [&](const RunOptions& run) { classifier.index().kneighbors(table, {.n_neighbors = 2}, run); }},
      {"search", [&](const RunOptions& run) { classifier.predict(table, {.n_neighbors = 2}, run); }},
      {"evaluation",
       [&](const RunOptions& run) { evaluate(table, {.knn = {}, .normalize = {}, .n_folds = 2, .ks = {1}}, run); }},
      {"statistics", [&](const RunOptions& run) { describe(table, {}, run); }},
      {"normalize", [&](const RunOptions& run) { Normalizer::fit(table, {.method = Normalization::z}, run); }},
      {"normalize", [&](const RunOptions& run) { normalizer.apply(table, run); }},
      {"pca", [&](const RunOptions& run) { Pca::fit(numbers, {}, run); }},
      {"transform", [&](const RunOptions& run) { pca.transform(numbers, run); }},
      {"least squares", [&](const RunOptions& run) { LinearModel::fit(line, {}, run); }},
      {"predict", [&](const RunOptions& run) { model.predict(line, run); }},
      {"cuts", [&](const RunOptions& run) { best_cuts(table, {}, run); }},
      {"cuts", [&](const RunOptions& run) { find_cuts(table, {}, run); }},
      {"code", [&](const RunOptions& run) { apply_cuts(table, cuts, {}, run); }},
      {"tree", [&](const RunOptions& run) { DecisionTree::fit(table, {}, run); }},
      {"predict", [&](const RunOptions& run) { tree.predict(table, run); }},
  };
  for (const auto& [name, job] : jobs) {
    const Heard heard = hear(job);
    ASSERT_FALSE(heard.jobs.empty()) << name;
    EXPECT_EQ(heard.jobs.back(), name);
    const std::string& json = heard.json.back();
    EXPECT_TRUE(json.starts_with("{\"") && json.ends_with("}")) << json;
    EXPECT_NE(json.find("\"threads\":"), std::string::npos) << json;
    EXPECT_FALSE(heard.text.back().empty()) << name;
  }
}

TEST(Reports, AreJsonAndTextOfTheirType) {
  SearchReport report;
  report.backend = "avx2";
  report.reason = "a \"quoted\"\nreason";
  report.method = "filter";
  report.threads = 2;
  report.pairs = 10;
  report.seconds = 0.5;
  report.memory_budget = 1'234'567;
  report.gpu_seconds = {{"scan", 0.25}};
  const std::string json = to_json(report);
  EXPECT_TRUE(json.starts_with(R"({"backend":"avx2","reason":"a \"quoted\"\u000areason","device_reason":"","method":)"))
      << json;
  EXPECT_TRUE(json.ends_with(R"("seconds":0.5,"gpu_seconds":{"scan":0.25}})")) << json;
  EXPECT_EQ(to_text(report),
            "backend   avx2 (a \"quoted\" reason)\nmethod    filter\n"
            "tiles     0 queries x 0 rows, 0 rows in memory, 2 threads\n"
            "memory    0 bytes planned, budget 1.23 MB\n"
            "search    10 pairs in 0.500 s (20 per second), 0 distances computed\ngpu       scan 250 ms\n");
  report.seconds = 0;
  EXPECT_NE(to_json(report).find("\"seconds\":0.0"), std::string::npos);
}

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Reports, OfFiltersSayWhatTheyRuledOut) {
  SearchReport report;
  EXPECT_TRUE(has(to_text(report), "search    0 pairs in 0.000 s (0 per second), 0 distances computed"))
      << to_text(report);
  report.scanned = 9;
  report.skipped = 4;
  report.listed = 2;
  EXPECT_TRUE(has(to_text(report), "filter    9 pairs compared, 4 ruled out in blocks, 2 listed")) << to_text(report);
  report.opened = 3;
  report.uncertified = 1;
  report.gpu_seconds = {{"scan", 0.25}, {"rerank", 0.001}};
  const std::string text = to_text(report);
  EXPECT_TRUE(has(text, "filter    9 pairs compared, 4 ruled out in blocks, 2 listed, 3 groups of boxes opened"))
      << text;
  EXPECT_TRUE(has(text, "gpu       scan 250 ms, rerank 1 ms")) << text;
  EXPECT_TRUE(has(text, "fall-back 1 queries by the reference")) << text;
}

TEST(Reports, OfPassesSayHowManyThereWere) {
  DecomposeReport report;
  report.backend = "avx2";
  report.method = "lsqr";
  EXPECT_EQ(to_text(report).find("passes"), std::string::npos);
  report.products = 8;
  report.iterations = 4;
  EXPECT_TRUE(has(to_text(report), "passes    8 products of the matrix, 4 steps, avx2")) << to_text(report);
  report.method = "block lanczos";
  EXPECT_TRUE(has(to_text(report), "passes    8 products of the matrix, 4 restarts, avx2")) << to_text(report);
  StatsReport statistics;
  EXPECT_NE(to_text(statistics).find("pass      0 bytes of values in 0.000 s (0 bytes per second)"), std::string::npos);
  EXPECT_EQ(to_text(statistics).find("again"), std::string::npos);
  statistics.second_pass_seconds = 0.5;
  EXPECT_TRUE(has(to_text(statistics), "again     0.500 s for histograms and distinct values")) << to_text(statistics);
  DiscretizeReport cuts;
  EXPECT_EQ(to_json(cuts).find("gpu_seconds"), std::string::npos);
  cuts.gpu_seconds = 0.5;
  EXPECT_NE(to_json(cuts).find("\"gpu_seconds\":0.5"), std::string::npos);
  ImputeReport filled;
  EXPECT_EQ(to_text(filled).find("search "), std::string::npos) << "nothing was searched";
  filled.search.method = "reference";
  EXPECT_NE(to_text(filled).find("method    reference"), std::string::npos);
}

}  // namespace
}  // namespace stope
