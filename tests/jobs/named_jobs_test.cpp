// Jobs and kinds of model by name: the answers are those of the functions that they stand for.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "predict/model_cases.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"

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

}  // namespace
}  // namespace stope
