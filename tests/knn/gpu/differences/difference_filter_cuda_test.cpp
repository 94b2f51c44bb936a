// Compares the difference filter on a GPU, in floats and in bytes, with the CPU, bit for bit. The measures are all that
// name a form (asked, not listed). Tables have missing values, weights, nominal attributes, ties, and sizes that
// straddle tiles, panels and batches. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "knn/filter/filter_cases.hpp"
#include "knn/fitted.hpp"
#include "knn/measure/table.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

namespace stope {
namespace {

class DifferencesCuda : public NeedsGpu {
 protected:
  ~DifferencesCuda() override {
    fault::arm_alloc(0);
    fault::arm_device(0);
  }
  /// What answers where the images asked for are of this kind: Turing has no matrix instructions for bytes.
  static std::string method_of(const std::string& scan) {
    if (scan != "bytes") return "filter, differences";
    return device_info().gpus.front().arch == "sm_75" ? "reference" : "filter, byte differences";
  }
};

struct Shape {
  std::int64_t n_numeric = 0, n_nominal = 0;
  double missing = 0.0;
  int n_values = 8;
};

/// Makes numbers of both signs, or few different ones, and nominal values.
Table random_table(Random& random, std::int64_t n, const Shape& shape, bool ties = false) {
  using Values = oracle::TableShape::Values;
  return oracle::random_table(random, {.n_rows = n,
                                       .n_numeric = static_cast<int>(shape.n_numeric),
                                       .n_nominal = static_cast<int>(shape.n_nominal),
                                       .missing = shape.missing,
                                       .values = ties ? Values::few : Values::both_signs,
                                       .n_values = shape.n_values});
}

/// The GPU's answer, with the kind of images asked for, must be the CPU's. Returns the GPU's report.
SearchReport expect_the_processors_answer(const Table& train, const Table& query, const KnnOptions& options,
                                          const SearchOptions& search, const std::string& scan) {
  const KnnIndex index = KnnIndex::fit(train, options);
  Neighbors ours;
  SearchReport report;
  {
    const Forced forced("cuda", "", scan, 0, 0);
    unsetenv("STOPE_TILE_QUERIES");
    report = index.kneighbors(query, search, {}, [&](const Neighbors& block) {
      ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
      ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
    });
  }
  const Neighbors theirs = index.kneighbors(query, search, {.device = "cpu"});
  EXPECT_EQ(ours.indices, theirs.indices) << report.method << "; " << report.listed << " listed, " << report.evaluated
                                          << " evaluated, " << report.uncertified << " uncertified of " << query.n_rows;
  EXPECT_TRUE(same_bits(ours.distances, theirs.distances));
  return report;
}

/// A measure with a filter, and the shape of its tables.
struct Filtered {
  std::string name;
  Accepts accepts;
  int n_attributes;  ///< 0: any number
  bool takes_weights;
  knn::FilterForm form;

  bool takes_bytes() const { return form.term == knn::Term::absolute && form.divisor != knn::Divisor::total; }
  /// Returns a table shape that the measure accepts.
  Shape shape(std::int64_t width, double missing) const {
    if (n_attributes > 0) width = n_attributes;
    // The formula of squared-loss has no rule for missing values.
    if (accepts == Accepts::numeric) return {width, 0, name == "squared-loss" ? 0.0 : missing};
    if (accepts == Accepts::nominal) return {0, width, missing};
    return {(width + 1) / 2, width / 2, missing};
  }
};

/// Returns every measure that names a form. The measures themselves say so: a new one is tested without a change here.
std::vector<Filtered> filtered_measures() {
  std::vector<Filtered> result;
  Random random(11);
  for (const MetricInfo& info : metrics()) {
    const knn::MeasureRow& row = knn::find_measure({.name = std::string(info.name)});
    Filtered one{std::string(info.name), info.accepts, row.n_attributes, row.takes_weights, {}};
    Table table = random_table(random, 20, one.shape(2, 0.0));
    if (info.accepts == Accepts::numeric) {  // within every measure's domain
      for (Column& column : table.columns) {
        std::vector<double> values(20);
        for (double& value : values) value = 0.1 + 0.8 * random.uniform();
        column = make_numeric(column.name, values);
      }
    }
    KnnOptions options;
    options.metric.name = one.name;
    const KnnIndex index = KnnIndex::fit(table, options);
    const knn::FilterForm* form = index.fitted().kernel().filter_form();
    if (form == nullptr || !knn::has_gpu_filter(*form)) continue;
    one.form = *form;
    result.push_back(one);
  }
  return result;
}

Filtered filtered_measure(const std::string& name) {
  for (const Filtered& one : filtered_measures()) {
    if (one.name == name) return one;
  }
  throw Error(ErrorCode::internal, name + " has no filter");
}

TEST_F(DifferencesCuda, EveryMeasureInSizesThatStraddleTiles) {
  Random random(1);
  const std::vector<std::int64_t> rows = {1, 2, 127, 128, 129, 1000, 2049, 5000, 5001, 20000};
  const std::vector<std::int64_t> queries = {1, 2, 127, 128, 129, 300};
  const std::vector<std::int64_t> widths = {1, 2, 4, 5, 31, 32, 33, 63, 64, 65, 130, 300};
  const std::vector<std::int64_t> neighbors = {1, 2, 10, 24, 25, 128, 129, 512};
  std::int64_t bytes = 0;
  const std::vector<Filtered> measures = filtered_measures();
  ASSERT_GE(measures.size(), 16U);
  for (std::size_t round = 0; round < measures.size() * static_cast<std::size_t>(rounds()); ++round) {
    const Filtered& measure = measures[round % measures.size()];
    const std::int64_t n = rows[random.below(rows.size())], m = queries[random.below(queries.size())];
    const std::int64_t k = std::min(n, neighbors[random.below(neighbors.size())]);
    const double missing = random.below(3) == 0 ? 0.05 : 0.0;
    const Shape shape = measure.shape(widths[random.below(widths.size())], missing);
    const bool ties = random.below(4) == 0;
    const std::string scan = measure.takes_bytes() && random.below(3) != 0 ? "bytes" : "differences";
    SCOPED_TRACE(measure.name + ", " + std::to_string(n) + " x " + std::to_string(m) + " x " +
                 std::to_string(shape.n_numeric) + "+" + std::to_string(shape.n_nominal) + ", k " + std::to_string(k) +
                 ", missing " + std::to_string(missing) + ", " + scan);
    KnnOptions options;
    options.metric.name = measure.name;
    if (random.below(4) == 0 && measure.takes_weights) {
      for (std::int64_t c = 0; c < shape.n_numeric + shape.n_nominal; ++c) {
        options.feature_weights.push_back(0.25 * static_cast<double>(1 + random.below(6)));
      }
    }
    const Table train = random_table(random, n, shape, ties);
    const bool self = random.below(4) == 0 && n > k && n <= 2049;
    const SearchReport report = expect_the_processors_answer(train, self ? train : random_table(random, m, shape, ties),
                                                             options, {.n_neighbors = k, .exclude_self = self}, scan);
    EXPECT_EQ(report.method, method_of(scan));
    if (report.method == "reference") continue;
    // Where the form says so, no image bounds a row that lacks a value.
    const bool bounded = missing == 0.0 || measure.form.missing != knn::Missing::undefined;
    const bool equality = measure.form.space == knn::Space::equality;
    if (n >= 5000 && k <= 128 && !ties && bounded && shape.n_numeric >= 15 && !equality) {
      EXPECT_EQ(report.uncertified, 0) << "usual tables need no reference";
      bytes += scan == "bytes" ? 1 : 0;
    }
    if (HasFailure()) return;
  }
  // So few cases that perhaps none is in bytes, or a GPU that scans none.
  if (rounds() < 8 || method_of("bytes") == "reference") return;
  EXPECT_GT(bytes, 0);
}

TEST_F(DifferencesCuda, TablesThatAimAtTheBound) {
  Random random(2);
  const std::int64_t n = 6000, d = 20;
  const auto fill = [&](const auto& value) {
    std::vector<std::vector<double>> columns(static_cast<std::size_t>(d),
                                             std::vector<double>(static_cast<std::size_t>(n)));
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t r = 0; r < columns[c].size(); ++r) columns[c][r] = value(r, c);
    }
    return columns;
  };
  const auto uniform = [&] { return random.uniform(); };
  const std::vector<std::pair<const char*, std::vector<std::vector<double>>>> tables = {
      {"offset", fill([&](std::size_t, std::size_t) { return 1e6 + uniform(); })},
      {"one huge column", fill([&](std::size_t, std::size_t c) { return (c == 3 ? 1e9 : 1.0) * uniform(); })},
      {"sorted by class", fill([&](std::size_t r, std::size_t) { return static_cast<double>(r / 700) + uniform(); })},
      {"sorted downwards", fill([&](std::size_t r, std::size_t) { return -static_cast<double>(r) + uniform(); })},
      {"outliers", fill([&](std::size_t r, std::size_t) { return (r % 3001 == 5 ? 1e7 : 1.0) * uniform(); })},
      {"beyond floats", fill([&](std::size_t r, std::size_t) { return (r % 2001 == 5 ? 1e300 : 1.0) * uniform(); })},
      {"infinities", fill([&](std::size_t r, std::size_t) { return r % 2001 == 5 ? HUGE_VAL : uniform(); })},
      {"heavy tails", fill([&](std::size_t, std::size_t) { return std::tan((uniform() - 0.5) * 3.14159); })},
      {"near ties", fill([&](std::size_t, std::size_t) {
         return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.5) + random.below(3));
       })},
      {"nearer than floats",
       fill([&](std::size_t r, std::size_t) { return (r % 2 == 0 ? 1.0 : -1.0) + 1e-9 * uniform(); })},
      {"whole numbers", fill([&](std::size_t, std::size_t) { return static_cast<double>(random.below(3)); })},
      {"tiny", fill([&](std::size_t, std::size_t) { return 1e-150 * uniform(); })},
      {"large", fill([&](std::size_t, std::size_t) { return 1e150 * uniform(); })},
      {"subnormal", fill([&](std::size_t, std::size_t) { return 1e-310 * uniform(); })},
      {"constant", fill([&](std::size_t, std::size_t) { return 3.0; })},
      {"zeros", fill([&](std::size_t r, std::size_t) { return r % 2 == 0 ? 0.0 : -0.0; })},
      {"equal rows", fill([&](std::size_t r, std::size_t c) { return static_cast<double>(r % 5 + c); })},
      {"half missing", fill([&](std::size_t, std::size_t) { return random.below(2) == 0 ? std::nan("") : uniform(); })},
      {"rows of nothing", fill([&](std::size_t r, std::size_t) { return r % 100 == 7 ? std::nan("") : uniform(); })},
  };
  int round = 0;
  const std::vector<Filtered> measures = filtered_measures();
  for (const auto& [name, values] : tables) {
    const Table train = table_of(values);
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < 150; ++i) rows.push_back(i * 37 % n);
    for (const Filtered& measure : measures) {
      if (measure.accepts == Accepts::nominal || measure.n_attributes > 0) continue;
      if (++round % 8 >= rounds()) continue;
      const std::int64_t k = round % 3 == 0 ? 100 : round % 3 == 1 ? 10 : 1;
      const std::string scan = measure.takes_bytes() && round % 4 != 0 ? "bytes" : "differences";
      SCOPED_TRACE(std::string(name) + ", " + measure.name + ", k " + std::to_string(k) + ", " + scan);
      KnnOptions options;
      options.metric.name = measure.name;
      expect_the_processors_answer(train, train.take(rows), options, {.n_neighbors = k}, scan);
      if (HasFailure()) return;
    }
  }
}

TEST_F(DifferencesCuda, MissingInTheQueriesOnlyAndManyValues) {
  Random random(3);
  for (const std::string measure : {"manhattan", "gower", "hamming", "nan-euclidean", "heom", "mixed-euclidean"}) {
    for (const std::string scan : {"differences", "bytes"}) {
      if (scan == "bytes" && !filtered_measure(measure).takes_bytes()) continue;
      SCOPED_TRACE(measure + ", " + scan);
      const bool mixed = measure != "manhattan";
      // Images in bytes have 16 buckets for the values of an attribute.
      const int n_values = scan == "bytes" ? 16 : 100;
      Shape shape{25, mixed && measure != "hamming" ? 12 : 0, 0.0, n_values};
      if (measure == "hamming") shape = {0, 30, 0.0, n_values};
      const Table train = random_table(random, 5000, shape);
      shape.missing = 0.1;
      const Table query = random_table(random, 200, shape);
      KnnOptions options;
      options.metric.name = measure;
      const SearchReport report = expect_the_processors_answer(train, query, options, {.n_neighbors = 10}, scan);
      EXPECT_EQ(report.uncertified, 0);
    }
  }
}

// Lists may overflow, but answers must not differ.
TEST_F(DifferencesCuda, ValuesThatShareBuckets) {
  Random random(6);
  for (const std::string measure : {"gower", "hamming", "nominal-distance"}) {
    SCOPED_TRACE(measure);
    const Shape shape{measure == "nominal-distance" ? 0 : 10, 20, 0.02, 1000};
    KnnOptions options;
    options.metric.name = measure;
    expect_the_processors_answer(random_table(random, 3000, shape), random_table(random, 200, shape), options,
                                 {.n_neighbors = 10}, "bytes");
  }
}

TEST_F(DifferencesCuda, GroupsSelfAndRepeats) {
  Random random(4);
  Shape shape{20, 3, 0.03, 40};
  const Table train = random_table(random, 5000, shape);
  for (const std::string scan : {"differences", "bytes"}) {
    SCOPED_TRACE(scan);
    KnnOptions options;
    options.metric.name = "gower";
    EXPECT_EQ(
        expect_the_processors_answer(train, train, options, {.n_neighbors = 7, .exclude_self = true}, scan).uncertified,
        0);
    EXPECT_EQ(expect_the_processors_answer(train, train, options, {.n_neighbors = 7, .exclude_group = "s1"}, scan)
                  .uncertified,
              0);
    const Forced forced("cuda", "", scan, 1000, 0);
    const KnnIndex index = KnnIndex::fit(train, options);
    const Neighbors first = index.kneighbors(train, {.n_neighbors = 20});
    for (int repeat = 0; repeat < 20 * rounds() / 8; ++repeat) {
      const Neighbors again = index.kneighbors(train, {.n_neighbors = 20});
      ASSERT_EQ(again.indices, first.indices);
      ASSERT_TRUE(same_bits(again.distances, first.distances));
    }
  }
}

// The heap's shape at every step decides which of several equal rows stay, and in which order.
TEST_F(DifferencesCuda, RapidMinersHeaps) {
  Random random(9);
  const std::vector<std::int64_t> rows = {1, 40, 128, 129, 700, 6000, 30000};
  const std::vector<std::int64_t> neighbors = {1, 2, 7, 24, 25, 127, 128, 129, 512};
  std::int64_t certain = 0;
  for (int round = 0; round < 8 * rounds(); ++round) {
    const std::int64_t n = rows[random.below(rows.size())];
    const std::int64_t k = std::min(n, neighbors[random.below(neighbors.size())]);
    const bool ties = random.below(2) == 0, bytes = random.below(2) == 0;
    const double missing = random.below(3) == 0 ? 0.05 : 0.0;
    for (const char* metric : {"manhattan", "gower", "chebyshev", "mixed-euclidean"}) {
      const bool mixed = std::string(metric) == "gower" || std::string(metric) == "mixed-euclidean";
      const bool in_bytes = bytes && (std::string(metric) == "manhattan" || std::string(metric) == "gower");
      const Shape shape{std::vector<std::int64_t>{2, 6, 30}[random.below(3)], mixed ? 2 : 0, missing};
      KnnOptions options;
      options.metric.name = metric;
      options.compat = Compat::rapidminer;
      SCOPED_TRACE(std::string(metric) + ", " + std::to_string(n) + " rows, k " + std::to_string(k) +
                   (ties ? ", ties" : "") + (in_bytes ? ", bytes" : ""));
      const Table train = random_table(random, n, shape, ties), query = random_table(random, 150, shape, ties);
      const std::string scan = in_bytes ? "bytes" : "differences";
      SearchOptions search{.n_neighbors = k};
      const SearchReport report = expect_the_processors_answer(train, query, options, search, scan);
      EXPECT_EQ(report.method, method_of(scan));
      certain += report.uncertified < 75 || report.method == "reference" ? 1 : 0;
      search.exclude_self = n > k && n <= 6000;
      if (search.exclude_self) expect_the_processors_answer(train, train, options, search, scan);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(certain, 8 * rounds());
}

// The widths differ in the shared memory that their scans need.
TEST_F(DifferencesCuda, ThreadsThatSearchTablesOfSeveralWidths) {
  setenv("STOPE_BACKEND", "cuda", 1);
  setenv("STOPE_SCAN", "differences", 1);
  struct Job {
    Table train, query;
    Neighbors theirs;
  };
  Random random(9);
  std::vector<Job> jobs;
  for (const std::int64_t width : {5, 30, 90, 200}) {
    Job job{random_table(random, 1000, {width, 0, 0.0}), random_table(random, 130, {width, 0, 0.0}), {}};
    unsetenv("STOPE_BACKEND");
    job.theirs =
        KnnIndex::fit(job.train, {.metric = {.name = "chebyshev"}}).kneighbors(job.query, {}, {.device = "cpu"});
    setenv("STOPE_BACKEND", "cuda", 1);
    jobs.push_back(std::move(job));
  }
  {
    std::vector<std::jthread> threads;
    for (const Job& job : jobs) {
      threads.emplace_back([&job] {
        const KnnIndex index = KnnIndex::fit(job.train, {.metric = {.name = "chebyshev"}});
        for (int i = 0; i < 40 && !testing::Test::HasFailure(); ++i) {
          try {
            expect_same(index.kneighbors(job.query, {}), job.theirs);
          } catch (const Error& error) {
            ADD_FAILURE() << error.what();
          }
        }
      });
    }
  }
  for (const char* name : {"STOPE_BACKEND", "STOPE_SCAN"}) unsetenv(name);
}

// In floats and in bytes, the answer must be the same, or the error must say that memory is short.
TEST_F(DifferencesCuda, EveryAllocationFailsOnce) {
  Random random(7);
  const Table train = random_table(random, 3000, {9, 0, 0.0}), query = random_table(random, 200, {9, 0, 0.0});
  const auto fit = [&] { return KnnIndex::fit(train, {.metric = {.name = "manhattan"}}); };
  const Neighbors theirs = fit().kneighbors(query, {}, {.device = "cpu"});
  for (const char* scan : {"differences", "bytes"}) {
    SCOPED_TRACE(scan);
    const Forced forced("cuda", "", scan, 100, 0);
    const auto search = [&](const KnnIndex& index) { return index.kneighbors(query, {}, {.device = "cuda"}); };
    EXPECT_GT(fail_every_allocation_once(theirs, fit, search), 10);
  }
}

TEST_F(DifferencesCuda, TheGpuIsLostAtEveryCall) {
  Random random(8);
  const Table train = random_table(random, 3000, {9, 0, 0.0}), query = random_table(random, 200, {9, 0, 0.0});
  const KnnOptions options{.metric = {.name = "manhattan"}};
  const Neighbors theirs = KnnIndex::fit(train, options).kneighbors(query, {}, {.device = "cpu"});
  for (const char* scan : {"differences", "bytes"}) {
    SCOPED_TRACE(scan);
    const Forced forced("cuda", "", scan, 100, 0);
    const auto search = [&] { return KnnIndex::fit(train, options).kneighbors(query, {}, {.device = "cuda"}); };
    EXPECT_GT(lose_the_gpu_at_every_call(theirs, search, 3), 20);
  }
}

TEST_F(DifferencesCuda, UsualTablesNeedNoReference) {
  Random random(5);
  for (const std::string measure : {"manhattan", "gower", "chebyshev", "canberra"}) {
    for (const std::string scan : {"differences", "bytes"}) {
      if (scan == "bytes" && !filtered_measure(measure).takes_bytes()) continue;
      if (method_of(scan) == "reference") continue;
      SCOPED_TRACE(measure + ", " + scan);
      const Shape shape = filtered_measure(measure).shape(50, 0.0);
      KnnOptions options;
      options.metric.name = measure;
      const SearchReport report = expect_the_processors_answer(
          random_table(random, 100000, shape), random_table(random, 1000, shape), options, {.n_neighbors = 10}, scan);
      EXPECT_EQ(report.uncertified, 0);
      EXPECT_LT(report.evaluated, 1000 * 200);
    }
  }
}

}  // namespace
}  // namespace stope
