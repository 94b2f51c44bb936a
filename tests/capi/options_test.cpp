// Options of the C ABI: names, values, and what stope_describe_options() says of them.
#include <algorithm>
#include <array>

#include "capi/capi.hpp"

namespace capi_test {
namespace {

constexpr const char* kJobs[] = {"run",       "read",           "arrow",     "stats",
                                 "histogram", "value_counts",   "best_cuts", "find_cuts",
                                 "evaluate",  "feature_ranges", "pairwise",  "pairwise_distances",
                                 "neighbors", "classify",       "regress",   "pca",
                                 "lsq",       "tree",           "cuts",      "normalize",
                                 "impute",    "apply",          "search"};

Table labelled() {
  return table_of({{"x", STOPE_REGULAR, "real", {}},
                   {"c", STOPE_REGULAR, "nominal", {"p", "q"}},
                   {"y", STOPE_LABEL, "nominal", {"a", "b"}}},
                  {1, 0, 0, 2, 1, 1, 3, 0, 0, 4, 1, 1});
}

// What a job does with one option: a fit, or a computation.
stope_code try_option(const std::string& job, const char* name, const char* value, stope_error* error) {
  const Options set = options({{name, value}});
  const Table table = labelled();
  Table out;
  Model model;
  for (const char* kind : {"neighbors", "classify", "regress", "pca", "lsq", "tree", "cuts", "normalize", "impute"}) {
    if (job == kind) return stope_fit(kind, table, set, nullptr, model.out(), error);
  }
  return stope_compute(job.c_str(), table, nullptr, set, nullptr, out.out(), error);
}

TEST(Options, AreDescribedForEveryJob) {
  for (const char* job : kJobs) {
    SCOPED_TRACE(job);
    const Json all = Json::parse(stope_describe_options(job));
    for (const Json& one : all) {
      for (const char* member : {"name", "type", "default", "help"}) EXPECT_TRUE(one.contains(member)) << one.dump();
      if (one["type"] == "choice") {
        const std::vector<std::string> choices = one["choices"];
        EXPECT_NE(std::find(choices.begin(), choices.end(), one["default"].get<std::string>()), choices.end())
            << one.dump();
      }
    }
  }
  EXPECT_EQ(stope_describe_options("classification"), nullptr);
}

TEST(Options, TakeEveryChoiceAndTheDefaultThatIsDescribed) {
  for (const char* job :
       {"stats", "best_cuts", "find_cuts", "evaluate", "pairwise", "classify", "tree", "cuts", "impute"}) {
    for (const Json& one : Json::parse(stope_describe_options(job))) {
      const std::string name = one["name"], type = one["type"];
      std::vector<std::string> values = one.value("choices", std::vector<std::string>());
      if (type == "integer" || type == "real" || type == "flag") values.push_back(one["default"].dump());
      for (const std::string& value : values) {
        Failure failure;
        const stope_code code = try_option(job, name.c_str(), value.c_str(), &failure);
        // The tables here do not suit every value; but no job calls one of its own values unknown.
        const std::string message = failure.message;
        EXPECT_EQ(message.find("unknown"), std::string::npos) << job << " " << name << "=" << value << ": " << message;
        EXPECT_EQ(message.find("has no option"), std::string::npos) << message;
        EXPECT_NE(code, STOPE_INTERNAL) << message;
      }
    }
  }
}

TEST(Options, OfWrongNamesAndValuesAreRefusedInWords) {
  Failure failure;
  EXPECT_REFUSED(try_option("classify", "n_neighbours", "3", &failure), STOPE_INVALID_ARGUMENT,
                 "classify has no option 'n_neighbours' (did you mean 'n_neighbors'?)");
  EXPECT_STREQ(failure.option, "n_neighbours");
  EXPECT_REFUSED(try_option("classify", "n_neighbors", "three", &failure), STOPE_INVALID_ARGUMENT,
                 "n_neighbors: 'three' is not a whole number");
  EXPECT_REFUSED(try_option("classify", "n_neighbors", "", &failure), STOPE_INVALID_ARGUMENT, "is not a whole number");
  EXPECT_REFUSED(try_option("lsq", "alpha", "inf", &failure), STOPE_INVALID_ARGUMENT, "is not a finite number");
  EXPECT_REFUSED(try_option("stats", "distinct", "maybe", &failure), STOPE_INVALID_ARGUMENT, "is not true or false");
  EXPECT_REFUSED(try_option("classify", "weights", "distanc", &failure), STOPE_INVALID_ARGUMENT, "distance");
  EXPECT_REFUSED(try_option("classify", "metric.q", "2", &failure), STOPE_INVALID_ARGUMENT, "q");
  EXPECT_REFUSED(try_option("classify", "feature_weights", "1,x", &failure), STOPE_INVALID_ARGUMENT, "'x' is not");
  EXPECT_REFUSED(try_option("best_cuts", "seed", "-1", &failure), STOPE_INVALID_ARGUMENT, "seed");
  EXPECT_REFUSED(try_option("evaluate", "n_neighbors", "1,2.5", &failure), STOPE_INVALID_ARGUMENT, "whole number");
  EXPECT_REFUSED(try_option("statistics", "by", "c", &failure), STOPE_INVALID_ARGUMENT, "there is no job 'statistics'");
  EXPECT_REFUSED(try_option("regress", "n_neighbors", "2", &failure), STOPE_INVALID_ARGUMENT,
                 "regress needs a label of numbers, and 'y' is none");
}

TEST(Options, AreTakenBackByNullAndReplacedBySettingAgain) {
  Failure failure;
  const Table table = labelled();
  Model model;
  const Options set = options({{"n_neighbors", "0"}, {"nonsense", "1"}});
  EXPECT_EQ(stope_fit("classify", table, set, nullptr, model.out(), &failure), STOPE_INVALID_ARGUMENT);
  EXPECT_OK(stope_options_set(set, "nonsense", nullptr, &failure));
  EXPECT_REFUSED(stope_fit("classify", table, set, nullptr, model.out(), &failure), STOPE_INVALID_ARGUMENT, "k = 0");
  EXPECT_OK(stope_options_set(set, "n_neighbors", "2", &failure));
  EXPECT_OK(stope_fit("classify", table, set, nullptr, model.out(), &failure));

  const double weights[] = {1.0, 0.0};
  EXPECT_OK(stope_options_set_doubles(set, "feature_weights", weights, 2, &failure));
  EXPECT_OK(stope_fit("classify", table, set, nullptr, model.out(), &failure));
  EXPECT_OK(stope_options_set_doubles(set, "feature_weights", weights, 1, &failure));
  EXPECT_EQ(stope_fit("classify", table, set, nullptr, model.out(), &failure), STOPE_INVALID_ARGUMENT);
  EXPECT_OK(stope_options_set(set, "feature_weights", "0.5,2", &failure));
  EXPECT_OK(stope_fit("classify", table, set, nullptr, model.out(), &failure));
  EXPECT_REFUSED(stope_options_set_doubles(set, "feature_weights", weights, -1, &failure), STOPE_INVALID_ARGUMENT,
                 "-1");
}

TEST(Options, ThatAreWrongAreNamedInTheError) {
  const std::vector<std::array<const char*, 4>> all = {
      {"classify", "normalize", "zzz", "normalize"},    {"classify", "n_neighbors", "-7", "n_neighbors"},
      {"classify", "metric.foo", "1", "metric"},        {"classify", "compat", "weka", "compat"},
      {"tree", "class_weight.a", "-7", "class_weight"}, {"tree", "class_weight.a", "zzz", "class_weight"},
      {"tree", "prune_holdout", "-7", "prune_holdout"}, {"pairwise", "n_neighbors", "-7", "n_neighbors"},
      {"evaluate", "scheme", "once", "scheme"},         {"histogram", "bins", "0", "bins"}};
  for (const auto& [job, name, value, option] : all) {
    Failure failure;
    EXPECT_EQ(try_option(job, name, value, &failure), STOPE_INVALID_ARGUMENT) << job << name << failure.message;
    EXPECT_STREQ(failure.option, option) << failure.message;
  }
}

TEST(Options, OfListsOfNumbersAreNotTakenForOthers) {
  Failure failure;
  const Table table = labelled();
  const double three[] = {3};
  for (const char* name : {"n_neighbors", "metric", "metric.p", "weights"}) {
    const Options set = options({});
    EXPECT_OK(stope_options_set_doubles(set, name, three, 1, &failure));
    Model model;
    EXPECT_REFUSED(stope_fit("classify", table, set, nullptr, model.out(), &failure), STOPE_INVALID_ARGUMENT,
                   "takes a text, not a list of numbers");
    EXPECT_STREQ(failure.option, name);
  }
}

TEST(Options, OfApplyAreRefusedWhereTheySayNothing) {
  Failure failure;
  const Table table = labelled();
  Model model;
  Table out;
  EXPECT_OK(stope_fit("normalize", table, nullptr, nullptr, model.out(), &failure));
  const Options proba = options({{"proba", "true"}});
  EXPECT_REFUSED(stope_apply(model, table, proba, nullptr, out.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "gives no classes");
  const Options weights = options({{"weights", "distanc"}});
  EXPECT_REFUSED(stope_apply(model, table, weights, nullptr, out.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "did you mean 'distance'?");
}

TEST(Options, KeepCommasInsideQuotes) {
  Failure failure;
  Table table;
  const std::string path = testing::TempDir() + "quoted.csv";
  const Table plain =
      table_of({{"a,b", STOPE_REGULAR, "real", {}}, {"say \"x\"", STOPE_REGULAR, "real", {}}}, {1, 2, 3, 4});
  EXPECT_OK(stope_table_to_file(plain, path.c_str(), nullptr, &failure));
  const Options set = options({{"ignore", "\"a,b\",\"say \"\"x\"\"\""}});
  EXPECT_OK(stope_table_from_file(path.c_str(), set, nullptr, table.out(), &failure));
  for (const Json& one : schema(table)) EXPECT_EQ(one["role"], "ignore");
  const Options none = options({{"ignore", ""}});
  EXPECT_OK(stope_table_from_file(path.c_str(), none, nullptr, table.out(), &failure)) << "an empty list";
  const Options open = options({{"ignore", "\"a,b"}});
  EXPECT_REFUSED(stope_table_from_file(path.c_str(), open, nullptr, table.out(), &failure), STOPE_INVALID_ARGUMENT,
                 "a quote that is not closed");
}

}  // namespace
}  // namespace capi_test
