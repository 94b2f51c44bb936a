// Jobs and kinds of model by name: the answers are those of the functions that they stand for.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "predict/model_cases.hpp"
#include "same_table.hpp"
#include "stope/correlation.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/stats.hpp"

namespace stope {
namespace {

using testing_models::mixed_table;

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::internal;
}

TEST(NamedJobs, EveryKindFitsAndSaysWhatItIs) {
  const Table labelled = mixed_table(40, true), numbered = mixed_table(40, false);
  for (const std::string& kind : model_kinds()) {
    const bool nominal = kind == "classify" || kind == "tree" || kind == "cuts";
    NamedOptions options;
    if (kind == "tree" || kind == "cuts") options.texts = {{"missing", "value"}};
    if (kind == "pca" || kind == "lsq") options.texts = {{"nominal", "skip"}, {"missing", "mean"}};
    const Predictor model = fit_model(kind, nominal ? labelled : numbered, options);
    const auto info = nlohmann::json::parse(model_info(model));
    EXPECT_FALSE(info["columns"].empty()) << kind;
    for (const auto& part : info["tables"]) {
      EXPECT_NO_THROW(model_table(model, part.get<std::string>()).validate()) << kind << ' ' << part;
    }
  }
}

TEST(NamedJobs, EveryJobDescribesItsOptions) {
  for (const std::string& job : job_names()) {
    EXPECT_TRUE(nlohmann::json::parse(describe_options(job)).is_array()) << job;
  }
  EXPECT_TRUE(describe_options("no such job").empty());
}

TEST(NamedJobs, QuantilesAreColumnsOfTheStatistics) {
  const Table table = compute("stats", mixed_table(40, true), {.texts = {{"quantiles", "0.5,0.25,0.5"}}});
  StatsOptions options;
  options.quantiles = {0.5};
  const Statistics expected = describe(mixed_table(40, true), options);
  ASSERT_GE(table.find("q0.25"), 0);
  const Column& median = table.columns[static_cast<std::size_t>(table.find("q0.5"))];
  EXPECT_EQ(table.find("q0.25"), table.find("q0.5") + 1);
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    const std::vector<double>& found = expected.columns[static_cast<std::size_t>(row)].quantiles;
    EXPECT_EQ(median.missing(row), found.empty());
    if (!found.empty()) {
      EXPECT_EQ(median.at(row), found[0]);
    }
  }
}

TEST(NamedJobs, CorrelationsBeginWithThoseOfTheLabel) {
  const Table table = mixed_table(40, false);  // x, y and the label: numbers
  const Table pairs = compute("correlation", table, {.texts = {{"method", "spearman"}}});
  const Correlation expected = correlation(table, {CorrelationMethod::spearman});
  ASSERT_EQ(expected.names, (std::vector<std::string>{"x", "y", "class"}));
  ASSERT_EQ(pairs.n_rows, 3);
  EXPECT_EQ(pairs.columns[0].values[static_cast<std::size_t>(pairs.columns[0].codes()[1])], "class");
  EXPECT_EQ(pairs.columns[2].at(0), expected.at(2, 0));
  EXPECT_EQ(pairs.columns[2].at(1), expected.at(2, 1));
  EXPECT_EQ(pairs.columns[2].at(2), expected.at(0, 1));
  EXPECT_EQ(pairs.columns[3].at(0), 39.0);  // x lacks a value
}

TEST(NamedJobs, AChainOfPredictorsAppliesAsItsSteps) {
  const Table train = mixed_table(40, true), rows = mixed_table(9, true);
  const Predictor scale = fit_model("normalize", train);
  const Predictor last = fit_model("classify", apply_model(scale, train), {.texts = {{"metric", "gower"}}});
  const Predictor chain = chain_models({scale, last});
  const NamedOptions options{.texts = {{"proba", "true"}, {"n_neighbors", "4"}}};
  expect_equal(apply_model(chain, rows, options), apply_model(last, apply_model(scale, rows), options));
  expect_equal(model_neighbors(chain, rows, 3), model_neighbors(last, apply_model(scale, rows), 3));
  const auto info = nlohmann::json::parse(model_info(chain));
  EXPECT_EQ(info["kind"], "chain");
  EXPECT_EQ(info["options"]["2.kind"], "neighbors");
  EXPECT_EQ(info["classes"].size(), 3U);
  for (const auto& part : info["tables"]) EXPECT_NO_THROW(model_table(chain, part.get<std::string>()).validate());
}

TEST(NamedJobs, NeighboursOfAModelAreThoseOfItsIndex) {
  const Table train = mixed_table(40, true), rows = mixed_table(9, true);
  const Predictor model = fit_model("classify", train);
  const Table lists = model_neighbors(model, rows, 3);
  const Neighbors expected = model.index().kneighbors(model.normalized(rows), {.n_neighbors = 3});
  ASSERT_EQ(lists.n_rows, std::ssize(expected.indices));
  const auto& index = std::get<Buffer<double>>(lists.columns[2].data);
  for (std::int64_t i = 0; i < lists.n_rows; ++i) {
    EXPECT_EQ(index[i], static_cast<double>(expected.indices[static_cast<std::size_t>(i)]));
  }
}

TEST(NamedJobs, UnknownNamesAreInvalidArguments) {
  const Table table = mixed_table(20, true);
  EXPECT_EQ(code_of([&] { compute("stat", table); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { compute("stats", table, {}, {}, &table); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { fit_model("forest", table); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { fit_model("tree", table, {.texts = {{"depth", "3"}}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { model_table(fit_model("cuts", table, {.texts = {{"missing", "value"}}}), "leafs"); }),
            ErrorCode::invalid_argument);
}

TEST(NamedJobs, KindsThatNeedAnotherLabelSayWhich) {
  const auto words = [](const std::string& kind, const Table& table) -> std::string {
    try {
      fit_model(kind, table);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  Table unlabelled = mixed_table(20, true);
  unlabelled.columns.pop_back();
  EXPECT_NE(words("classify", unlabelled).find("needs a nominal label, and the table has no label"), std::string::npos);
  EXPECT_NE(words("regress", unlabelled).find("needs a label of numbers, and the table has no label"),
            std::string::npos);
  EXPECT_NE(words("classify", mixed_table(20, false)).find("a nominal label, and 'class' is none"), std::string::npos);
  EXPECT_NE(words("regress", mixed_table(20, true)).find("a label of numbers, and 'class' is none"), std::string::npos);
}

TEST(NamedJobs, AVoteOfAnotherKindIsThatOfTheModelFittedSo) {
  const Table train = mixed_table(40, true), rows = mixed_table(9, true);
  const Predictor uniform = fit_model("classify", train, {.texts = {{"n_neighbors", "4"}}});
  const Predictor weighted = fit_model("classify", train, {.texts = {{"n_neighbors", "4"}, {"weights", "distance"}}});
  const NamedOptions proba{.texts = {{"proba", "true"}}};
  NamedOptions distance = proba;
  distance.texts["weights"] = "distance";
  expect_equal(apply_model(uniform, rows, distance), apply_model(weighted, rows, proba));
  const Predictor tree = fit_model("tree", train, {.texts = {{"missing", "value"}}});
  EXPECT_EQ(code_of([&] { apply_model(tree, rows, {.texts = {{"n_neighbors", "4"}}}); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { apply_model(tree, rows, {.texts = {{"weights", "distance"}}}); }),
            ErrorCode::invalid_argument);
}

TEST(NamedJobs, FlagsAreFourWords) {
  const Table table = mixed_table(40, true);
  const Table all = compute("stats", table), few = compute("stats", table, {.texts = {{"extremes", "1"}}});
  const auto mean = static_cast<std::size_t>(all.find("mean"));
  EXPECT_FALSE(all.columns[mean].missing(0));
  EXPECT_TRUE(few.columns[mean].missing(0)) << "only the extremes were asked for";
  expect_equal(compute("stats", table, {.texts = {{"extremes", "0"}}}), all);
  expect_equal(compute("stats", table, {.texts = {{"extremes", "true"}}}), few);
  EXPECT_EQ(code_of([&] { compute("stats", table, {.texts = {{"extremes", "yes"}}}); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stope
