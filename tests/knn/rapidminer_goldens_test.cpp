// Reproduces the recorded results of the real RapidMiner 5.3 through the library: predictions, confidences, neighbour
// lists in heap order, refused measures, Cross Distances. tests/cli/test_rapidminer_goldens.py does it through the
// command line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "effort.hpp"
#include "golden_files.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/knn_pairwise.hpp"

namespace stope {
namespace {

namespace fs = std::filesystem;
using goldens::Neighborhood;

struct GoldenRun {
  std::string dataset, metric, measure, kernel, predictions, neighbors;
  bool regression = false;
};

std::string identifier(std::string name) {
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::vector<GoldenRun> load_runs() {
  std::vector<GoldenRun> runs;
  if (!goldens::present()) return runs;
  const nlohmann::json manifest = goldens::read_json(goldens::folder() / "MANIFEST.json");
  for (const auto& r : manifest["runs"]) {
    const std::string measure = r["measure"];
    runs.push_back({r["dataset"], goldens::family(r["measure_types"]) + "." + measure, measure,
                    r.value("kernel_type", std::string()), r["predictions"], r["neighbors"],
                    r["task"] == "regression"});
  }
  return runs;
}

KnnOptions options_for(const std::string& metric, const std::string& kernel = {}) {
  KnnOptions options;
  options.metric.name = metric;
  if (!kernel.empty()) options.metric.params["kernel_type"] = kernel;
  options.compat = Compat::rapidminer;
  return options;
}

Table read(const fs::path& csv, const fs::path& schema, const std::string& part) {
  ReadOptions options;
  options.schema = schema.string();
  options.schema_part = part;
  return read_table(csv.string(), options);
}

Table read_part(const std::string& dataset, const std::string& part) {
  const fs::path folder = goldens::folder() / dataset;
  return read(folder / (part + ".csv"), folder / "schema.json", part);
}

/// Says whether ties can explain a difference, for a measure that is compared within a tolerance.
class Ties {
 public:
  Ties(const KnnIndex& index, const Table& test) : index_(index), test_(test) {}

  /// Whether the k-th and the next distance, or two of the k nearest, are equal within the tolerance.
  bool at_boundary(std::int64_t row, std::int64_t k) {
    std::vector<double> d = distances(row);
    std::sort(d.begin(), d.end(), goldens::before);
    d.resize(std::min(d.size(), static_cast<std::size_t>(k + 1)));
    return adjacent(d);
  }

  /// Whether two of the distances that ever entered the heap are equal within the tolerance: its order may then differ.
  bool in_history(std::int64_t row, std::int64_t k) {
    std::vector<double> heap, entered;
    for (const double d : distances(row)) {
      if (heap.size() == static_cast<std::size_t>(k)) {
        if (!goldens::before(d, heap.front())) continue;
        std::pop_heap(heap.begin(), heap.end(), goldens::before);
        heap.pop_back();
      }
      heap.push_back(d);
      std::push_heap(heap.begin(), heap.end(), goldens::before);
      entered.push_back(d);
    }
    std::sort(entered.begin(), entered.end(), goldens::before);
    return adjacent(entered);
  }

  /// Returns the distances of a test row to all training rows, in training order.
  std::vector<double> distances(std::int64_t row) {
    SearchOptions search;
    search.n_neighbors = index_.n_samples();
    const Neighbors all = index_.kneighbors(test_.take({row}), search);
    std::vector<double> d(all.distances.size());
    for (std::size_t i = 0; i < d.size(); ++i) d[static_cast<std::size_t>(all.indices[i])] = all.distances[i];
    return d;
  }

 private:
  static bool adjacent(const std::vector<double>& sorted) {
    return std::adjacent_find(sorted.begin(), sorted.end(), goldens::close) != sorted.end();
  }

  const KnnIndex& index_;
  const Table& test_;
};

Neighborhood list_of(const Neighbors& found, std::int64_t i) {
  Neighborhood list;
  for (auto p = found.offsets[static_cast<std::size_t>(i)]; p < found.offsets[static_cast<std::size_t>(i) + 1]; ++p) {
    list.emplace_back(found.indices[static_cast<std::size_t>(p)], found.distances[static_cast<std::size_t>(p)]);
  }
  return list;
}

std::vector<double> sorted_distances(const Neighborhood& list) {
  std::vector<double> d;
  for (const auto& entry : list) d.push_back(entry.second);
  std::sort(d.begin(), d.end(), goldens::before);
  return d;
}

void expect_exact(const Neighborhood& want, const Neighborhood& got) {
  ASSERT_EQ(want.size(), got.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(want[i].first, got[i].first) << "position " << i;
    EXPECT_TRUE(goldens::identical(want[i].second, got[i].second))
        << "position " << i << ": " << got[i].second << ", expected " << want[i].second;
  }
}

void expect_close(const Neighborhood& want, const Neighborhood& got, std::int64_t row, std::int64_t k, Ties& ties) {
  ASSERT_EQ(want.size(), got.size());
  const std::vector<double> a = sorted_distances(want), b = sorted_distances(got);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(goldens::close(a[i], b[i])) << b[i] << ", expected " << a[i];
  const std::map<std::int64_t, double> known(want.begin(), want.end());
  bool same_order = true, same_set = true;
  for (std::size_t i = 0; i < want.size(); ++i) {
    same_order = same_order && want[i].first == got[i].first;
    const auto at = known.find(got[i].first);
    same_set = same_set && at != known.end();
    if (at != known.end()) {
      EXPECT_TRUE(goldens::close(at->second, got[i].second)) << "training row " << got[i].first;
    }
  }
  if (same_order || (same_set && ties.in_history(row, k))) return;
  EXPECT_TRUE(ties.at_boundary(row, k)) << "other neighbours than recorded, and no tie explains it";
}

/// Whether the two best confidences are equal within the tolerance, so that either class is right.
bool vote_tied(const std::vector<double>& confidences) {
  std::vector<double> c;
  for (const double v : confidences) {
    if (!std::isnan(v)) c.push_back(v);
  }
  std::sort(c.rbegin(), c.rend());
  return c.size() > 1 && goldens::close(c[0], c[1]);
}

class RapidMinerRun : public testing::TestWithParam<GoldenRun> {
 protected:
  void check(std::int64_t row, const goldens::Prediction& want, const goldens::Prediction& got) {
    const bool exact = goldens::is_exact(GetParam().measure);
    const auto same = exact ? goldens::identical : goldens::close;
    ASSERT_EQ(want.confidences.size(), got.confidences.size());
    bool agree = true;
    for (std::size_t c = 0; c < want.confidences.size(); ++c) {
      agree = agree && same(want.confidences[c], got.confidences[c]);
    }
    EXPECT_TRUE(agree && (want.value == got.value || (!exact && vote_tied(want.confidences))))
        << "row " << row << ": " << got.value << ", expected " << want.value << (agree ? "" : "; confidences differ");
  }
};

// A sanitizer looks for wrong accesses: a part of the numbers of neighbours is enough. Another compiler computes all.
bool is_sanitized() {
  return effort() < 40;
}
bool is_chosen() {
  static std::int64_t number = 0;  // goes on from run to run: each has other numbers of neighbours
  return !is_sanitized() || chosen(number++);
}

TEST_P(RapidMinerRun, Neighbors) {
  const GoldenRun& run = GetParam();
  const Table train = read_part(run.dataset, "train"), test = read_part(run.dataset, "test");
  const KnnIndex index = KnnIndex::fit(train, options_for(run.metric, run.kernel));
  Ties ties(index, test);
  for (const auto& [k, lists] : goldens::read_neighbors(goldens::folder() / run.neighbors)) {
    if (!is_chosen()) continue;
    std::vector<std::int64_t> rows;
    for (const auto& entry : lists) rows.push_back(entry.first);
    SearchOptions search;
    search.n_neighbors = k;
    const Neighbors found = index.kneighbors(test.take(rows), search);
    ASSERT_EQ(found.n_queries(), static_cast<std::int64_t>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE("k = " + std::to_string(k) + ", row " + std::to_string(rows[i]));
      const Neighborhood got = list_of(found, static_cast<std::int64_t>(i));
      if (goldens::is_exact(run.measure)) {
        expect_exact(lists.at(rows[i]), got);
      } else {
        expect_close(lists.at(rows[i]), got, rows[i], k, ties);
      }
    }
  }
}

TEST_P(RapidMinerRun, Classification) {
  const GoldenRun& run = GetParam();
  if (run.regression) return;
  const bool once_more = is_sanitized() || std::getenv("STOPE_BACKEND") != nullptr;  // every back end does the same
  if (once_more && run.measure == "DynamicTimeWarpingDistance") GTEST_SKIP() << "slow; Neighbors measures them";
  const Table train = read_part(run.dataset, "train"), test = read_part(run.dataset, "test");
  const KnnClassifier model = KnnClassifier::fit(train, options_for(run.metric, run.kernel));
  for (const auto& [key, wanted] : goldens::read_predictions(goldens::folder() / run.predictions)) {
    if (!is_chosen()) continue;
    SCOPED_TRACE("k = " + std::to_string(key.first) + (key.second ? ", weighted" : ""));
    VoteOptions vote;
    vote.n_neighbors = key.first;
    vote.weights = key.second ? VoteWeights::distance : VoteWeights::uniform;
    const Classification c = model.predict(test, vote);
    ASSERT_EQ(c.codes.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto first = c.confidences.begin() + static_cast<std::ptrdiff_t>(i * c.classes.size());
      const goldens::Prediction got{c.codes[i] == kMissingCode ? "?" : c.classes[static_cast<std::size_t>(c.codes[i])],
                                    std::vector<double>(first, first + static_cast<std::ptrdiff_t>(c.classes.size()))};
      check(static_cast<std::int64_t>(i), wanted[i], got);
    }
  }
}

TEST_P(RapidMinerRun, Regression) {
  const GoldenRun& run = GetParam();
  if (!run.regression) return;
  const Table train = read_part(run.dataset, "train"), test = read_part(run.dataset, "test");
  const KnnRegressor model = KnnRegressor::fit(train, options_for(run.metric, run.kernel));
  const auto same = goldens::is_exact(run.measure) ? goldens::identical : goldens::close;
  for (const auto& [key, wanted] : goldens::read_predictions(goldens::folder() / run.predictions)) {
    if (!is_chosen()) continue;
    SCOPED_TRACE("k = " + std::to_string(key.first) + (key.second ? ", weighted" : ""));
    VoteOptions vote;
    vote.n_neighbors = key.first;
    vote.weights = key.second ? VoteWeights::distance : VoteWeights::uniform;
    const std::vector<double> got = model.predict(test, vote);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double want = goldens::number(wanted[i].value);
      EXPECT_TRUE(same(want, got[i])) << "row " << i << ": " << got[i] << ", expected " << want;
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RapidMinerRun);
INSTANTIATE_TEST_SUITE_P(Goldens, RapidMinerRun, testing::ValuesIn(load_runs()), [](const auto& golden) {
  return identifier(golden.param.dataset + "_" + golden.param.metric + "_" + golden.param.kernel);
});

// --- refused measures -----------------------------------------------------------------------------------------------

TEST(RapidMinerGoldens, AllAreHere) {
  if (!goldens::present()) GTEST_SKIP() << "no reference results at " << goldens::folder() << " (STOPE_SHARED)";
  EXPECT_EQ(load_runs().size(), 234U);
}

void expect_refused(const nlohmann::json& error) {
  const std::string dataset = error["dataset"], measure = error["measure"];
  SCOPED_TRACE(dataset + " " + measure);
  const Table train = read_part(dataset, "train"), test = read_part(dataset, "test");
  try {
    const KnnIndex index = KnnIndex::fit(train, options_for(goldens::family(error["measure_types"]) + "." + measure));
    SearchOptions search;
    search.n_neighbors = 3;
    index.kneighbors(test, search);
    ADD_FAILURE() << "not refused";
  } catch (const Error& refused) {
    EXPECT_EQ(exit_code(refused.code()), 3) << refused.what();
    EXPECT_NE(std::string(refused.what()), "");
  }
}

TEST(RapidMinerGoldens, InapplicableDivergences) {
  if (!goldens::present()) GTEST_SKIP() << "no reference results at " << goldens::folder() << " (STOPE_SHARED)";
  const nlohmann::json manifest = goldens::read_json(goldens::folder() / "MANIFEST.json");
  ASSERT_EQ(manifest["expected_errors"].size(), 45U);
  for (const auto& error : manifest["expected_errors"]) expect_refused(error);
}

TEST(RapidMinerGoldens, WrongAttributeTypes) {
  if (!goldens::present()) GTEST_SKIP() << "no reference results at " << goldens::folder() << " (STOPE_SHARED)";
  const nlohmann::json manifest = goldens::read_json(goldens::folder() / "MANIFEST_OPS.json");
  ASSERT_EQ(manifest["knn_type_errors"].size(), 4U);
  for (const auto& error : manifest["knn_type_errors"]) expect_refused(error);
}

// --- Cross Distances -------------------------------------------------------------------------------------------------

std::string measure_of(const nlohmann::json& parameters) {
  for (const char* key : {"mixed_measure", "numerical_measure", "nominal_measure", "divergence"}) {
    if (parameters.contains(key)) return parameters[key];
  }
  return "MixedEuclideanDistance";
}

PairwiseOptions cross_options(const nlohmann::json& p) {
  PairwiseOptions options;
  options.knn =
      options_for(goldens::family(p.value("measure_types", std::string("MixedMeasures"))) + "." + measure_of(p));
  if (p.value("only_top_k", std::string()) == "true") options.n_neighbors = goldens::integer(p["k"]);
  if (p.value("search_for", std::string()) == "farthest") options.search_for = SearchFor::farthest;
  options.similarities = p.value("compute_similarities", std::string()) == "true";
  return options;
}

Table read_input(const std::string& name) {
  const fs::path inputs = goldens::folder() / "ops" / "inputs";
  return read(inputs / (name + ".csv"), inputs / (name + ".schema.json"), "train");
}

void expect_cross(const nlohmann::json& op) {
  const std::string output = op["output"];
  SCOPED_TRACE(output);
  const auto got =
      cross_distances(read_input(op["inputs"][0]), read_input(op["inputs"][1]), cross_options(op["parameters"]));
  const auto want = goldens::read_records(goldens::folder() / output);
  ASSERT_EQ(got.size(), want.size() - 1);
  const bool exact = goldens::is_exact(measure_of(op["parameters"]));
  std::map<std::pair<std::int64_t, std::int64_t>, double> known;
  for (std::size_t i = 1; i < want.size(); ++i) {
    known[{goldens::integer(want[i][0]) - 1, goldens::integer(want[i][1]) - 1}] = goldens::number(want[i][2]);
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto& record = want[i + 1];
    const double distance = goldens::number(record[2]);
    if (exact) {
      EXPECT_EQ(got[i].request, goldens::integer(record[0]) - 1) << "line " << i;
      EXPECT_EQ(got[i].document, goldens::integer(record[1]) - 1) << "line " << i;
      EXPECT_TRUE(goldens::identical(distance, got[i].distance)) << "line " << i << ": " << got[i].distance;
      continue;
    }
    // Within the tolerance the order of tied pairs is free. The value at this place and the pair's own value decide.
    EXPECT_TRUE(goldens::close(distance, got[i].distance)) << "line " << i << ": " << got[i].distance;
    const auto pair = known.find({got[i].request, got[i].document});
    if (pair != known.end()) {
      EXPECT_TRUE(goldens::close(pair->second, got[i].distance)) << "line " << i;
    }
  }
}

TEST(RapidMinerGoldens, CrossDistances) {
  if (!goldens::present()) GTEST_SKIP() << "no reference results at " << goldens::folder() << " (STOPE_SHARED)";
  const nlohmann::json manifest = goldens::read_json(goldens::folder() / "MANIFEST_OPS.json");
  int runs = 0;
  for (const auto& op : manifest["runs"]) {
    if (op["operator"] != "cross_distances") continue;
    expect_cross(op);
    ++runs;
  }
  EXPECT_EQ(runs, 36);
}

// ctest runs this program once for every back end (STOPE_BACKEND).
class BackendHere : public testing::Environment {
 public:
  void SetUp() override {
    try {
      require_backend({});
    } catch (const Error& error) {
      // Skipping from here would count every test as passed. GoogleTest reports skipped tests with this line.
      std::printf("%s\n[  SKIPPED ] %d tests, listed below:\n", error.what(),
                  testing::UnitTest::GetInstance()->test_to_run_count());
      std::fflush(stdout);
      std::_Exit(0);
    }
  }
};
const testing::Environment* const kBackendHere = testing::AddGlobalTestEnvironment(new BackendHere);

}  // namespace
}  // namespace stope
