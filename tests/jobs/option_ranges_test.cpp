// The numeric options of every job and kind of model, with their ranges: what is outside is refused by the option's
// name, what is at the end of a range is taken. An option that is described and has no row here fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "predict/model_cases.hpp"
#include "stope/error.hpp"
#include "stope/jobs.hpp"
#include "stope/lsq.hpp"
#include "stope/pca.hpp"

namespace stope {
namespace {

using Names = std::vector<std::string>;
using Texts = std::map<std::string, std::string>;

constexpr const char* kLeast = "-9223372036854775808";

/// An option, what it refuses and what it takes, and other options without which it has no effect. `named`: what a
/// refusal names where two options contradict each other.
struct Range {
  Names jobs;
  std::string option;
  Names refused, taken;
  Texts with = {};
  std::string named = {};
};

// NOLINTNEXTLINE: a table, one option a row
std::vector<Range> ranges() {
  const Names knn = {"neighbors", "classify", "regress"}, distances = {"neighbors", "classify", "regress", "pairwise"};
  const Names from_one = {"0", "-1", kLeast}, from_zero = {"-1", kLeast}, not_below_zero = {"-1e-300", "-1", "-1e300"};
  return {
      {knn, "n_neighbors", from_one, {"1", "5"}},
      {knn, "ranges", {"1", "0,1,2"}, {"-1,1,0,9"}, {{"metric", "gower"}}},
      {distances, "feature_weights", {"-1,1,1", "1"}, {"0,1,1"}},
      {distances, "normalize.min", {"2"}, {"-5", "0"}, {{"normalize", "range"}}, "min"},
      {distances, "normalize.max", {"-2"}, {"5", "0.5"}, {{"normalize", "range"}}, "min"},
      {{"pairwise"}, "n_neighbors", from_zero, {"0", "1"}},
      {{"stats"}, "quantiles", {"-0.1", "1.1"}, {"0", "1", "0.5,0.25"}},
      {{"histogram"}, "bins", from_one, {"1", "10"}},
      {{"best_cuts"}, "n_permutations", from_zero, {"0", "1"}},
      {{"best_cuts", "pca", "tree"}, "seed", from_zero, {"0", "9223372036854775807"}},
      {{"find_cuts", "cuts"}, "n_bins", from_one, {"2", "9"}, {{"method", "equal-width"}}},
      {{"find_cuts", "cuts"}, "max_cuts", from_zero, {"0", "1"}, {{"method", "md-global"}}},
      {{"find_cuts", "cuts"}, "confidence", {"-0.5", "0", "1", "2"}, {"0.5", "0.95"}, {{"method", "chimerge"}}},
      {{"find_cuts", "cuts"}, "min_intervals", from_one, {"1", "3"}, {{"method", "chimerge"}}},
      {{"pca"}, "n_components", {"-1", "-0.1", "1.5", "1e300"}, {"0", "1", "0.5"}},
      {{"pca", "lsq"}, "tolerance", not_below_zero, {"0", "1e-6", "1"}},
      {{"pca", "lsq"}, "max_iterations", from_zero, {"0", "7"}},
      {{"lsq"}, "alpha", not_below_zero, {"0", "1"}},
      {{"evaluate"}, "alpha", not_below_zero, {"0", "1"}, {{"model", "lsq"}, {"missing", "mean"}}},
      {{"tree"}, "max_depth", {"-2", kLeast}, {"-1", "0", "3"}},
      {{"tree"}, "min_samples_leaf", from_one, {"1", "5"}},
      {{"tree"}, "min_score", not_below_zero, {"0", "0.5"}},
      {{"tree"}, "ccp_alpha", not_below_zero, {"0", "0.5"}},
      {{"tree"}, "prune_holdout", {"-0.1", "1", "2"}, {"0", "0.3"}},
      {{"normalize"}, "min", {"2"}, {"-5", "0"}, {{"method", "range"}}, "min"},
      {{"normalize"}, "max", {"-2"}, {"5", "0.5"}, {{"method", "range"}}, "min"},
      {{"impute"}, "n_neighbors", from_one, {"1", "5"}},
      {{"impute"}, "feature_weights", {"-1,1,1", "1"}, {"0,1,1"}},
      {{"impute"}, "normalize.min", {"2"}, {"-5", "0"}, {{"normalize", "range"}}, "min"},
      {{"impute"}, "normalize.max", {"-2"}, {"5", "0.5"}, {{"normalize", "range"}}, "min"},
      {{"apply"}, "explain_attributes", from_zero, {"0", "2"}, {{"explain", "true"}}},
      {{"apply"}, "n_neighbors", {"0", "-2", kLeast}, {"-1", "1"}},
      {{"search"}, "first_query", {"-2", kLeast}, {"-1", "0"}, {{"exclude_self", "true"}}},
      {{"evaluate", "confusion"}, "n_neighbors", {"0", "-1", "1.5", "1e300"}, {"1"}},
      {{"evaluate", "confusion"}, "feature_weights", {"-1,1,1", "1"}, {"0,1,1"}},
      {{"evaluate", "confusion"}, "normalize.min", {"2"}, {"-5", "0"}, {{"normalize", "range"}}, "min"},
      {{"evaluate", "confusion"}, "normalize.max", {"-2"}, {"5", "0.5"}, {{"normalize", "range"}}, "min"},
      {{"evaluate", "confusion"}, "n_folds", {"1", "0", "-1", kLeast}, {"2", "5"}},
      {{"evaluate", "confusion"}, "holdout", {"0", "-0.1", "1", "2"}, {"0.3"}, {{"scheme", "hold-out"}}},
      {{"evaluate", "confusion"}, "seed", from_zero, {"0", "77"}},
      {{"evaluate", "confusion"}, "n_repeats", from_one, {"1", "2"}},
      {{"evaluate", "confusion"}, "max_depth", {"-2", kLeast}, {"-1", "0", "3"}, {{"model", "tree"}}},
      {{"evaluate", "confusion"}, "min_samples_leaf", from_one, {"1", "5"}, {{"model", "tree"}}},
      {{"evaluate", "confusion"}, "min_score", not_below_zero, {"0", "0.5"}, {{"model", "tree"}}},
      {{"evaluate", "confusion"}, "ccp_alpha", not_below_zero, {"0", "0.5"}, {{"model", "tree"}}},
      {{"evaluate", "confusion"}, "prune_holdout", {"-0.1", "1", "2"}, {"0", "0.3"}, {{"model", "tree"}}},
  };
}

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Runs a job on 40 rows of two numbers, a nominal attribute and a label.
void run(const std::string& job, Texts options) {
  RunOptions alone;
  alone.threads = 1;
  const bool lsq = options.contains("model") && options["model"] == "lsq";
  const bool numbers = job == "regress" || job == "lsq" || job == "pca" || job == "impute" || lsq;
  const Table table = testing_models::mixed_table(40, !numbers);
  const bool tree = options.contains("model") && options["model"] == "tree";
  if (job == "tree" || job == "cuts" || job == "find_cuts" || job == "best_cuts" || tree) options["missing"] = "value";
  if (job == "pca" || job == "lsq") options.insert({{"nominal", "skip"}, {"missing", "mean"}});
  if (lsq) options["nominal"] = "skip";
  if (job == "apply") {
    apply_model(fit_model("classify", table, {}, alone), table, {.texts = options}, alone);
  } else if (job == "search") {
    model_neighbors(fit_model("neighbors", table, {}, alone), table, 3, {.texts = options}, alone);
  } else if (contains(model_kinds(), job)) {
    apply_model(fit_model(job, table, {.texts = options}, alone), table, {}, alone);
  } else {
    compute(job, table, {.texts = options}, alone);
  }
}

TEST(OptionRanges, EveryNumericOptionOfEveryJobHasARange) {
  Names all = model_kinds();
  for (const std::string& job : job_names()) all.push_back(job);
  all.insert(all.end(), {"apply", "search"});
  for (const std::string& job : all) {
    std::set<std::string> described;
    for (const auto& option : nlohmann::json::parse(describe_options(job))) {
      const auto type = option["type"].get<std::string>();
      if (type == "integer" || type == "real" || type == "reals") described.insert(option["name"].get<std::string>());
    }
    if (job == "confusion") described.erase("alpha");  // a linear model has no confusion
    std::set<std::string> listed;
    for (const Range& range : ranges()) {
      if (contains(range.jobs, job)) listed.insert(range.option);
    }
    EXPECT_EQ(described, listed) << job;
  }
}

TEST(OptionRanges, WhatIsOutsideIsRefusedByTheOptionsName) {
  for (const Range& range : ranges()) {
    for (const std::string& job : range.jobs) {
      Names refused = range.refused;
      refused.insert(refused.end(), {"nan", "inf", "-inf", "1e400", "x"});
      for (const std::string& value : refused) {
        SCOPED_TRACE(job + ", " + range.option + " = " + value);
        Texts options = range.with;
        options[range.option] = value;
        try {
          run(job, options);
          ADD_FAILURE() << "taken";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
          EXPECT_TRUE(error.option() == range.option || error.option() == range.named)
              << error.option() << ": " << error.what();
        }
      }
    }
  }
}

TEST(OptionRanges, TheEndsOfARangeAreTaken) {
  for (const Range& range : ranges()) {
    for (const std::string& job : range.jobs) {
      for (const std::string& value : range.taken) {
        Texts options = range.with;
        options[range.option] = value;
        EXPECT_NO_THROW(run(job, options)) << job << ", " << range.option << " = " << value;
      }
    }
  }
}

// Texts cannot say what a caller of C++ can.
TEST(OptionRanges, NumbersThatAreNoneAreRefusedInCpp) {
  const Table table = testing_models::numeric_table(40);
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(), -1e-9}) {
    EXPECT_THROW(Pca::fit(table, {.tolerance = value}), Error) << value;
    EXPECT_THROW(LinearModel::fit(table, {.tolerance = value}), Error) << value;
    EXPECT_THROW(LinearModel::fit(table, {.alpha = value}), Error) << value;
  }
}

}  // namespace
}  // namespace stope
