// Compares every fast path with the reference, bit for bit, on random tables made to break its bounds. A case is one
// table and one query set. STOPE_CASES sets how many there are (a long run: millions), STOPE_SEED where they begin.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/thread_pool.hpp"
#include "device/needs_gpu.hpp"
#include "knn/filter/filter_cases.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

namespace stope {
namespace {

double pick(Random& random, std::initializer_list<double> values) {
  return *(values.begin() + random.below(values.size()));
}

// Makes the values of one numeric column in several ways; each aims at a part of the bound.
class ColumnMaker {
 public:
  explicit ColumnMaker(Random& random) : kind_(random.below(13)) {
    offset_ = pick(random, {0.0, 0.0, 1.0, 1e6, -1e6, 1e9});
    scale_ = pick(random, {1.0, 1.0, 1e-3, 1e3, 1e-150, 1e150, 1e-310});
    base_ = random.uniform();
  }
  double value(Random& random, std::int64_t row) const {
    switch (kind_) {
      case 0: return static_cast<double>(random.below(4));                       // ties and duplicates
      case 1: return static_cast<double>(random.below(256));                     // bytes
      case 2: return offset_ + random.uniform();                                 // cancellation
      case 3: return scale_ * random.uniform();                                  // one huge or tiny column
      case 4: return static_cast<double>(row) * 0.01 + random.uniform() * 1e-6;  // sorted
      case 5: return base_;                                                      // constant
      case 6: return random.below(200) == 0 ? 1e12 : random.uniform();           // outliers spoil a common scale
      case 7:                                                                    // near-ties one ulp apart
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(1.0 + base_) + random.below(3));
      case 8: return static_cast<double>(static_cast<float>(base_)) + 1e-9 * static_cast<double>(random.below(5));
      case 9: return std::numeric_limits<double>::denorm_min() * static_cast<double>(random.below(50));
      case 10: return pick(random, {-0.0, 0.0, 1.0, -1.0, 1e300, -1e300, 1e-300});
      case 11: return random.below(20) == 0 ? pick(random, {HUGE_VAL, -HUGE_VAL, 1.7e308, -1.7e308}) : random.uniform();
      default: return std::tan((random.uniform() - 0.5) * 3.14159);  // heavy tails
    }
  }

 private:
  std::uint64_t kind_;
  double offset_ = 0.0, scale_ = 1.0, base_ = 0.0;
};

// Returns the metrics to draw from: those of Accepts that take any value.
std::vector<std::string> metrics_of(Accepts accepts) {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics()) {
    const std::string name(metric.name);
    const bool narrow = name == "haversine" || name == "mahalanobis" || name == "generalized-i" ||
                        name == "itakura-saito" || name == "logarithmic-loss" || name == "logistic-loss" ||
                        name == "squared-loss";
    if (!narrow && metric.accepts == accepts) names.push_back(name);
  }
  return names;
}

std::string choose_metric(Random& random, bool numeric, bool nominal) {
  static const std::vector<std::string> mixed = metrics_of(Accepts::mixed), numbers = metrics_of(Accepts::numeric),
                                        nominals = metrics_of(Accepts::nominal);
  if (random.below(3) != 0) {
    const std::vector<std::string>* own = numeric && nominal ? &mixed : numeric ? &numbers : &nominals;
    // Slow or unfiltered metrics are drawn less often.
    const std::string& name = (*own)[random.below(own->size())];
    if (name != "dtw" && name != "kernel-euclidean") return name;
  }
  return mixed[random.below(mixed.size())];
}

// Makes a table of the columns that `makers` describe. Query rows often repeat training rows, some changed by one step.
Table make_table(Random& random, const std::vector<ColumnMaker>& makers, int n_nominal, double missing, std::int64_t n,
                 const Table* like) {
  Table table;
  table.n_rows = n;
  std::vector<std::int64_t> copies(static_cast<std::size_t>(n), -1);
  if (like != nullptr) {
    for (std::int64_t& copy : copies) {
      if (random.below(2) == 0)
        copy = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(like->n_rows)));
    }
  }
  for (std::size_t c = 0; c < makers.size(); ++c) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::int64_t r = 0; r < n; ++r) {
      double& value = values[static_cast<std::size_t>(r)];
      const std::int64_t copy = copies[static_cast<std::size_t>(r)];
      value = copy >= 0 ? like->columns[c].at(copy) : makers[c].value(random, r);
      if (random.below(16) == 0) value = std::nextafter(value, 1e308);
      if (random.uniform() < missing) value = std::nan("");
    }
    table.columns.push_back(make_numeric("x" + std::to_string(c), values));
  }
  for (int c = 0; c < n_nominal; ++c) {
    std::vector<std::string> names = {"a", "b", "c", "d", "e"};
    names.resize(1 + static_cast<std::size_t>(c) % 5);
    if (like != nullptr && random.below(4) == 0) names.emplace_back("unseen");
    std::vector<std::int32_t> codes(static_cast<std::size_t>(n));
    for (std::int32_t& code : codes) {
      code = random.uniform() < missing ? kMissingCode : static_cast<std::int32_t>(random.below(names.size()));
    }
    table.columns.push_back(make_nominal("s" + std::to_string(c), codes, names));
  }
  return table;
}

void append_duplicates(Random& random, Table& table) {
  const auto n = static_cast<std::uint64_t>(table.n_rows);
  std::vector<std::int64_t> rows(n);
  for (std::int64_t& row : rows) row = static_cast<std::int64_t>(random.below(1 + n / 8));
  for (Column& column : table.columns) {
    if (column.nominal()) {
      std::vector<std::int32_t> codes;
      for (const std::int64_t row : rows) codes.push_back(column.codes()[row]);
      column = make_nominal(column.name, codes, column.values);
    } else {
      std::vector<double> values;
      for (const std::int64_t row : rows) values.push_back(column.at(row));
      column = make_numeric(column.name, values);
    }
  }
}

// `plain`: a case that inner products or bytes can take.
Case make_case(Random& random, bool plain) {
  constexpr std::int64_t kSizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 300};
  Case c;
  const int n_numeric = (plain ? 1 : 0) + static_cast<int>(random.below(3) == 0 ? random.below(20) : random.below(6));
  const int n_nominal = plain            ? 0
                        : n_numeric == 0 ? 1 + static_cast<int>(random.below(4))
                                         : static_cast<int>(random.below(2) * random.below(5));
  std::vector<ColumnMaker> makers;
  const ColumnMaker common(random);
  const bool alike = random.below(2) == 0;  // columns of one kind: no single column decides
  for (int i = 0; i < n_numeric; ++i) makers.push_back(alike ? common : ColumnMaker(random));
  const double missing = random.below(plain ? 3 : 2) == 0 ? pick(random, {0.05, 0.3, 0.8}) : 0.0;
  const std::int64_t n = kSizes[random.below(std::size(kSizes))];
  c.train = make_table(random, makers, n_nominal, missing, n, nullptr);
  if (random.below(5) == 0) append_duplicates(random, c.train);
  const bool self = random.below(4) == 0;
  c.query =
      self ? c.train
           : make_table(random, makers, n_nominal, missing, 1 + static_cast<std::int64_t>(random.below(70)), &c.train);
  static const std::vector<std::string> kPlain = {"euclidean", "sqeuclidean",       "mixed-euclidean",
                                                  "cosine",    "cosine-similarity", "manhattan",
                                                  "manhattan", "nan-euclidean",     "nan-euclidean"};
  c.knn.metric.name = plain ? kPlain[random.below(kPlain.size())] : choose_metric(random, n_numeric > 0, n_nominal > 0);
  c.knn.compat = random.below(5) == 0 ? Compat::rapidminer : Compat::none;
  if (random.below(4) == 0) {
    for (int i = 0; i < n_numeric + n_nominal; ++i) {
      c.knn.feature_weights.push_back(pick(random, {1.0, 0.5, 2.0, 1e-3, 1e3, 3.0, 1e-200, 1e200, 0.1}));
    }
  }
  c.search.exclude_self = self && n > 1 && random.below(2) == 0;
  if (n_nominal > 0 && random.below(6) == 0) c.search.exclude_group = "s0";
  const std::int64_t most = std::max<std::int64_t>(1, n - (c.search.exclude_self ? 1 : 0));
  c.search.n_neighbors =
      random.below(3) == 0
          ? most
          : 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(std::min<std::int64_t>(most, 12))));
  if (random.below(6) == 0) c.radius = pick(random, {0.0, 1e-9, 0.1, 1.0, 1.5, 10.0, 1e6, 1e160, -1.0});
  return c;
}

/// Counts the cases by their outcome.
struct Tally {
  std::int64_t filtered = 0, refused = 0, listed = 0, scanned = 0;
};

// A metric may refuse a table (a range of 0, a singular matrix), and the reference says so. No fast path may refuse
// what the reference answers, nor answer what it refuses.
void expect_a_refusal(const Error& error) {
  EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
  EXPECT_NE(error.code(), ErrorCode::device_lost) << error.what();
  EXPECT_NE(error.code(), ErrorCode::device_unavailable) << error.what();
}

// The lists, or the code of the refusal.
struct Answer {
  Neighbors lists;
  std::optional<ErrorCode> refusal;
};

Answer answer_or_refusal(const Case& c, const RunOptions& run) {
  try {
    return {answer(c, KnnIndex::fit(c.train, c.knn, run), run), {}};
  } catch (const Error& error) {
    expect_a_refusal(error);
    return {{}, error.code()};
  }
}

void expect_same_answer(const Answer& found, const Answer& expected) {
  ASSERT_EQ(found.refusal, expected.refusal);
  if (!expected.refusal) expect_same(found.lists, expected.lists);
}

// `metric`: of all cases, which are then plain; empty: as drawn.
void compare_with_reference(const std::vector<std::string>& backends, std::int64_t n_cases, const std::string& metric,
                            Tally& tally) {
  const std::int64_t seed = from_environment("STOPE_SEED", 1);
  for (std::int64_t i = 0; i < n_cases; ++i) {
    Random random(static_cast<std::uint64_t>(seed + i));
    const std::string scan = std::vector<std::string>{"differences", "products", "nibbles", "bytes"}[random.below(4)];
    Case c = make_case(random, !metric.empty() || (scan != "differences" && random.below(4) != 0));
    if (!metric.empty()) c.knn.metric.name = metric;
    const bool bytes_here = backends.back() == "avx512vnni" && scan == "bytes" && random.below(2) == 0;
    const std::string& backend = bytes_here ? backends.back() : backends[random.below(backends.size())];
    const std::string order = random.below(3) != 0 ? "near" : "table";
    const std::string visit = random.below(2) == 0 ? "queries" : "tiles";
    // A query that has a tile for itself has scans of its own.
    const auto tile = static_cast<std::int64_t>(random.below(4) == 0 ? 1 : 1 + random.below(100));
    RunOptions run;
    run.threads = random.below(8) == 0 ? 2 : 1;
    SCOPED_TRACE("seed " + std::to_string(seed + i) + ", " + c.knn.metric.name + ", " + backend + ", " + order + ", " +
                 visit + ", " + scan);
    Answer expected;
    {
      const Forced forced("reference", "", "", 128, 0);
      expected = answer_or_refusal(c, run);
    }
    // A third of the tables is not held encoded, and is searched part by part.
    const std::int64_t part = random.below(3) == 0 ? 1 + static_cast<std::int64_t>(random.below(150)) : 0;
    const Forced forced(backend, order, scan, tile, part, visit);
    ASSERT_NO_FATAL_FAILURE(expect_same_answer(answer_or_refusal(c, run), expected));
    if (testing::Test::HasFailure()) return;
    if (expected.refusal) {
      ++tally.refused;
    } else if (i % 16 == 0 && std::isnan(c.radius)) {
      const KnnIndex index = KnnIndex::fit(c.train, c.knn, run);
      const SearchReport report = index.kneighbors(c.query, c.search, run, [](const Neighbors&) {});
      tally.filtered += report.method != "reference" ? 1 : 0;
      tally.listed += report.listed;
      tally.scanned += report.scanned;
    }
  }
  EXPECT_LT(tally.refused, n_cases / 4 + 1);
}

std::vector<std::string> vector_backends() {
  std::vector<std::string> backends;
  for (const BackendInfo& backend : device_info().backends) {
    if (backend.available && backend.name != "reference" && backend.name != "cuda") backends.push_back(backend.name);
  }
  return backends;
}

TEST(FilterProperty, EveryFastPathReturnsTheReferencesBits) {
  const std::vector<std::string> backends = vector_backends();
  ASSERT_FALSE(backends.empty());
  const std::int64_t n_cases = from_environment("STOPE_CASES", 20000);
  Tally tally;
  ASSERT_NO_FATAL_FAILURE(compare_with_reference(backends, n_cases, "", tally));
  EXPECT_GT(tally.filtered, n_cases / 64) << "most cases must go through a filter";
  EXPECT_LT(tally.listed, tally.scanned) << "a filter that never drops a row tests nothing";
}

// Products have a bound of their own, from above, and starts of their own.
TEST(FilterProperty, InnerProductsHaveTheReferencesBits) {
  const std::vector<std::string> backends = vector_backends();
  ASSERT_FALSE(backends.empty());
  const std::int64_t n_cases = std::max<std::int64_t>(100, from_environment("STOPE_CASES", 20000) / 10);
  Tally tally;
  ASSERT_NO_FATAL_FAILURE(compare_with_reference(backends, n_cases, "inner-product", tally));
  EXPECT_GT(tally.filtered, 0);
  EXPECT_LT(tally.listed, tally.scanned);
}

/// Settings from the environment for the cases of a group: the kind of scan, and tile and part sizes.
class CudaSizes {
 public:
  explicit CudaSizes(std::uint64_t seed) {
    Random random(~seed);
    scan_ = std::vector<std::string>{"differences", "products", "bytes"}[random.below(3)];
    const auto sometimes = [&](std::uint64_t most) {
      return random.below(3) == 0 ? 1 + static_cast<std::int64_t>(random.below(most)) : 0;
    };
    tile_queries_ = 1 + static_cast<std::int64_t>(random.below(100));
    part_rows_ = sometimes(150);  // then the table is not held encoded, and is searched part by part
    tile_rows_ = sometimes(150);
    device_rows_ = sometimes(200);
  }
  const std::string& scan() const { return scan_; }
  /// The settings hold as long as the returned object lives.
  std::unique_ptr<Forced> force() const {
    set("STOPE_TILE_ROWS", tile_rows_);
    set("STOPE_DEVICE_ROWS", device_rows_);
    return std::make_unique<Forced>("cuda", "", scan_, tile_queries_, part_rows_);
  }
  ~CudaSizes() {
    for (const char* name : {"STOPE_TILE_ROWS", "STOPE_DEVICE_ROWS"}) unsetenv(name);
  }
  CudaSizes(const CudaSizes&) = delete;
  CudaSizes& operator=(const CudaSizes&) = delete;

 private:
  static void set(const char* name, std::int64_t size) {
    if (size > 0) setenv(name, std::to_string(size).c_str(), 1);
  }
  std::string scan_;
  std::int64_t tile_queries_ = 0, part_rows_ = 0, tile_rows_ = 0, device_rows_ = 0;
};

/// A case for a GPU, with a memory budget, two sessions on a GPU or all GPUs of the machine.
struct CudaCase {
  Case c;
  RunOptions run;
  Answer expected;
  bool refused = false, filtered = false;

  CudaCase() = default;
  CudaCase(std::uint64_t seed, const std::string& scan, const std::string& two_gpus) {
    Random random(seed);
    c = make_case(random, scan != "differences" && random.below(4) != 0);
    run.threads = random.below(8) == 0 ? 2 : 1;
    if (random.below(3) == 0) run.memory_limit = std::int64_t{1} << (19 + random.below(6));
    if (random.below(8) == 0) run.device = two_gpus;
  }
  void answer_by_reference() { expected = answer_or_refusal(c, {.threads = run.threads}); }
  void compare(bool ask) {
    const Answer found = answer_or_refusal(c, run);
    refused = found.refusal.has_value();
    // The reference had no memory limit. Nothing else may be a reason of the GPU alone.
    if (found.refusal == ErrorCode::out_of_memory && run.memory_limit > 0) return;
    ASSERT_NO_FATAL_FAILURE(expect_same_answer(found, expected));
    if (refused || !ask || !std::isnan(c.radius)) return;
    const KnnIndex index = KnnIndex::fit(c.train, c.knn, run);
    filtered = index.kneighbors(c.query, c.search, run, [](const Neighbors&) {}).method != "reference";
  }
};

// STOPE_THREADS threads search the cases of a group at the same time: a small case spends most of its time making
// memory and streams.
TEST(FilterProperty, CudaReturnsTheReferencesBits) {
  constexpr std::int64_t kGroup = 64, kAsked = 16;
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  const std::string two_gpus = device_info().gpus.size() > 1 ? "cuda:0,1" : "cuda:0,0";
  const std::int64_t n_cases = from_environment("STOPE_CASES", 20000) / 4, seed = from_environment("STOPE_SEED", 1);
  ThreadPool pool(static_cast<int>(from_environment("STOPE_THREADS", 4)));
  std::int64_t filtered = 0, refused = 0;
  for (std::int64_t first = 0; first < n_cases && !HasFailure(); first += kGroup) {
    const CudaSizes sizes(static_cast<std::uint64_t>(seed + first));
    std::vector<CudaCase> cases(static_cast<std::size_t>(std::min(kGroup, n_cases - first)));
    const auto for_each = [&](const auto& work) {
      pool.parallel_for(static_cast<std::int64_t>(cases.size()), {}, [&](std::int64_t i, int) {
        SCOPED_TRACE("group " + std::to_string(seed + first) + ", case " + std::to_string(i) + ", " + sizes.scan());
        work(i, cases[static_cast<std::size_t>(i)]);
      });
    };
    {
      const Forced forced("reference", "", "", 128, 0);
      for_each([&](std::int64_t i, CudaCase& one) {
        one = CudaCase(static_cast<std::uint64_t>(seed + first + i), sizes.scan(), two_gpus);
        one.answer_by_reference();
      });
    }
    const std::unique_ptr<Forced> forced = sizes.force();
    for_each([&](std::int64_t i, CudaCase& one) {
      SCOPED_TRACE(one.c.knn.metric.name);
      one.compare(i % kAsked == 0);
    });
    for (const CudaCase& one : cases) {
      filtered += one.filtered ? 1 : 0;
      refused += one.refused ? 1 : 0;
    }
  }
  EXPECT_LT(refused, n_cases / 4 + 1);
  // The reference answers queries with a radius, groups, RapidMiner's order, small budgets, or rows that no image
  // bounds.
  EXPECT_GE(filtered, n_cases / 1024) << "some cases must go through a filter";
}

// These tables are large enough for several levels of boxes, for steps with thresholds, and for a sample smaller than
// the table.
TEST(FilterProperty, LargerTables) {
  const std::int64_t n_cases = std::max<std::int64_t>(6, from_environment("STOPE_CASES", 20000) / 1000);
  for (std::int64_t i = 0; i < n_cases; ++i) {
    Random random(static_cast<std::uint64_t>(from_environment("STOPE_SEED", 1) + i + 900000000));
    std::vector<ColumnMaker> makers;
    const auto width = 1 + random.below(3);
    const ColumnMaker common(random);
    for (std::uint64_t c = 0; c < width; ++c) makers.push_back(random.below(2) == 0 ? common : ColumnMaker(random));
    const auto n = static_cast<std::int64_t>(2100 + random.below(7000));
    const Table train =
        make_table(random, makers, static_cast<int>(random.below(3)), random.below(2) * 0.05, n, nullptr);
    const Table query = make_table(random, makers, static_cast<int>(train.columns.size() - width), 0.0, 20, &train);
    const std::string metric = train.columns.size() > width ? (random.below(2) == 0 ? "mixed-euclidean" : "gower")
                                                            : choose_metric(random, true, false);
    SCOPED_TRACE("case " + std::to_string(i));
    expect_the_references_answer(train, query, metric, 1 + static_cast<std::int64_t>(random.below(20)));
  }
}

}  // namespace
}  // namespace stope
