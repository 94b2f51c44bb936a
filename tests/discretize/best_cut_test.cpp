// Compares the best cut of every attribute with an oracle that tries every cut and counts every pair, on every back
// end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "discretize/discretize_cases.hpp"
#include "discretize/sorted_rows.hpp"
#include "discretize/value_order.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "stope/discretize.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using discretize::Crew;
using discretize_cases::Shape;

BestCutOptions in_column_order(Criterion criterion = Criterion::discernibility) {
  BestCutOptions options;
  options.criterion = criterion;
  options.missing = MissingPolicy::value;
  options.order = AttributeOrder::column;
  return options;
}

oracle::Measure measure_of(Criterion criterion) {
  return criterion == Criterion::discernibility ? oracle::Measure::pairs
         : criterion == Criterion::gini         ? oracle::Measure::gini
                                                : oracle::Measure::entropy;
}

// W must be exact, cut and score. Gains may differ by rounding; the cut must then be as good as the oracle's.
void expect_best(const BestCut& found, const oracle::Feature& feature, const oracle::Decisions& decisions,
                 Criterion criterion) {
  const oracle::Best best = oracle::best_of(feature, decisions, measure_of(criterion));
  if (criterion == Criterion::discernibility) {
    ASSERT_EQ(found.score, best.score);
    if (decisions.weights.empty()) {
      ASSERT_EQ(found.pairs, static_cast<std::int64_t>(best.score));
    }
    ASSERT_EQ(found.cut.has_value() || found.value.has_value(), best.score > 0.0);
    if (found.cut) {
      ASSERT_EQ(*found.cut, best.candidate.cut);
    }
    if (found.value && *found.value != "?") {
      ASSERT_EQ(*found.value, "v" + std::to_string(best.candidate.value));
    }
    return;
  }
  ASSERT_NEAR(found.score, best.score, 1e-12);
  if (!found.cut) return;
  for (const oracle::Candidate& one : oracle::candidates(feature)) {
    if (one.cut != *found.cut) continue;
    ASSERT_NEAR(oracle::worth(one.right, decisions, measure_of(criterion)), best.score, 1e-12);
    return;
  }
  FAIL() << "the cut " << *found.cut << " is none of the candidates";
}

void expect_same(const BestCuts& a, const BestCuts& b) {
  ASSERT_EQ(a.cuts.size(), b.cuts.size());
  for (std::size_t i = 0; i < a.cuts.size(); ++i) {
    ASSERT_EQ(a.cuts[i].attribute, b.cuts[i].attribute);
    ASSERT_EQ(a.cuts[i].score, b.cuts[i].score) << a.cuts[i].name;
    ASSERT_EQ(a.cuts[i].pairs, b.cuts[i].pairs);
    ASSERT_EQ(a.cuts[i].cut, b.cuts[i].cut) << a.cuts[i].name;
    ASSERT_EQ(a.cuts[i].value, b.cuts[i].value);
    ASSERT_EQ(a.cuts[i].p_value, b.cuts[i].p_value) << a.cuts[i].name;
    ASSERT_EQ(a.cuts[i].family_p_value, b.cuts[i].family_p_value);
  }
}

TEST(BestCut, EveryCutAndEveryPairOnRandomTables) {
  Random random(11);
  const std::vector<std::string> backends = discretize_cases::cpu_backends();
  const int n_tables = repeated(3000, 200);
  for (int trial = 0; trial < n_tables; ++trial) {
    Shape shape;
    shape.n_rows = static_cast<std::int64_t>(1 + random.below(trial % 10 == 0 ? 70 : 24));
    shape.n_numeric = static_cast<int>(1 + random.below(11));
    shape.n_symbolic = static_cast<int>(random.below(4));
    shape.n_classes = static_cast<std::int32_t>(2 + random.below(trial % 3 == 0 ? 49 : 3));
    shape.weighted = trial % 5 == 0;
    shape.floats = trial % 4 == 0;
    const Table table = discretize_cases::random_decisions(random, shape);
    const Criterion criterion = trial % 4 == 1   ? Criterion::gini
                                : trial % 4 == 2 ? Criterion::entropy
                                                 : Criterion::discernibility;
    const ForcedBackend forced(backends[static_cast<std::size_t>(trial) % backends.size()]);
    const BestCuts found = best_cuts(table, in_column_order(criterion));
    const std::vector<std::int64_t> features = table.features();
    ASSERT_EQ(found.cuts.size(), features.size());
    for (std::size_t f = 0; f < features.size(); ++f) {
      SCOPED_TRACE("table " + std::to_string(trial) + ", feature " + std::to_string(f));
      expect_best(found.cuts[f], discretize_cases::feature_of(table.columns[static_cast<std::size_t>(features[f])]),
                  discretize_cases::decisions_of(table), criterion);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BestCut, EveryBackEndThreadCountAndRowOrderGivesTheSame) {
  Random random(12);
  const int n_tables = repeated(60, 12);
  for (int trial = 0; trial < n_tables; ++trial) {
    Shape shape;
    const std::int64_t sizes[] = {2, 7, 8, 9, 161, 255, 1023, 1024, 1025, 3000};
    shape.n_rows = sizes[trial % 10];
    shape.n_numeric = static_cast<int>(1 + random.below(40));
    shape.n_symbolic = 2;
    shape.n_classes = static_cast<std::int32_t>(2 + random.below(trial % 2 == 0 ? 1 : 20));
    shape.weighted = trial % 7 == 0;
    shape.floats = trial % 3 == 0;
    const Table table = discretize_cases::random_decisions(random, shape);
    BestCutOptions options = in_column_order(trial % 6 == 1   ? Criterion::gini
                                             : trial % 6 == 3 ? Criterion::entropy
                                                              : Criterion::discernibility);
    options.n_permutations = shape.n_rows < 200 ? 70 : 3;
    SCOPED_TRACE(trial);
    const BestCuts first = [&] {
      const ForcedBackend reference("reference");
      RunOptions run;
      run.threads = 1;
      return best_cuts(table, options, run);
    }();
    for (const std::string& backend : discretize_cases::cpu_backends()) {
      SCOPED_TRACE(backend);
      const ForcedBackend forced(backend);
      expect_same(first, best_cuts(table, options));
      if (HasFatalFailure()) return;
    }
    std::vector<std::int64_t> rows(static_cast<std::size_t>(shape.n_rows));
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t i = rows.size() - 1; i > 0; --i) std::swap(rows[i], rows[random.below(i + 1)]);
    options.n_permutations = 0;
    expect_same(best_cuts(table, options), best_cuts(table.take(rows), options));
    if (HasFatalFailure()) return;
  }
}

template <class T>
void expect_sorted(const std::vector<T>& x, discretize::SortScratch& scratch, const std::vector<Crew>& crews) {
  std::vector<std::uint32_t> wanted(x.size());
  std::iota(wanted.begin(), wanted.end(), 0U);
  const auto below = [&](std::uint32_t a, std::uint32_t b) {
    return discretize::below(static_cast<double>(x[a]), static_cast<double>(x[b]));
  };
  std::stable_sort(wanted.begin(), wanted.end(), below);
  for (const Crew& crew : crews) {
    const auto n = static_cast<std::int64_t>(x.size());
    std::vector<std::uint32_t> rows(x.size());
    std::vector<std::uint8_t> differs(x.size(), 7);
    discretize::sort_rows(x.data(), n, rows.data(), scratch, differs.data(), crew);
    ASSERT_EQ(rows, wanted) << crew.n_parts(n) << " parts";
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(differs[i], i + 1 < x.size() && below(rows[i], rows[i + 1]) ? 1 : 0) << i;
    }
    if (n < discretize::kCrewRows) break;  // fewer rows are left to one thread
  }
}

TEST(BestCut, SortedRowsAreInOrderWhateverTheValues) {
  Random random(13);
  discretize::SortScratch scratch;
  ThreadPool two(2), seven(7);
  const CancelToken never;
  const std::vector<Crew> crews = {{}, {seven, never}, {two, never}};
  std::int64_t number = 0;
  for (int kind = 0; kind < discretize_cases::kKinds + 3; ++kind) {
    for (const std::int64_t n : {1, 2, 5, 1023, 1024, 5000, 70000}) {
      if (!chosen(number++)) continue;
      SCOPED_TRACE("n " + std::to_string(n) + ", kind " + std::to_string(kind));
      std::vector<double> x(static_cast<std::size_t>(n));
      for (double& v : x) {
        v = kind < discretize_cases::kKinds        ? discretize_cases::random_number(random, kind)
            : random.below(1000) == 0              ? -1e300  // far from the others, which share all their leading bits
            : kind == discretize_cases::kKinds     ? 1e6 + random.uniform()
            : kind == discretize_cases::kKinds + 1 ? 1e12 + static_cast<double>(random.below(50))
                                                   : 1.0 + random.uniform() * 1e-7;
      }
      expect_sorted(x, scratch, crews);
      expect_sorted(std::vector<float>(x.begin(), x.end()), scratch, crews);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BestCut, TallAndWideTables) {
  Random random(16);
  std::int64_t number = 0;
  for (const auto& [n_rows, n_columns] : {std::pair{100000, 6}, {5, 100000}, {300, 2000}}) {
    Shape shape;
    shape.n_rows = n_rows;
    shape.n_numeric = n_columns;
    shape.n_classes = 3;
    shape.floats = true;
    const Table table = discretize_cases::random_decisions(random, shape);
    const BestCuts first = [&] {
      const ForcedBackend reference("reference");
      return best_cuts(table, in_column_order());
    }();
    for (const std::string& backend : discretize_cases::cpu_backends()) {
      if (!chosen(number++)) continue;
      SCOPED_TRACE(backend);
      const ForcedBackend forced(backend);
      expect_same(first, best_cuts(table, in_column_order()));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BestCut, AllThreadsSortColumnsThatAreTooFewForThem) {
  Random random(17);
  Shape shape;
  shape.n_rows = discretize::kCrewRows + 1;
  shape.n_numeric = 5;
  shape.n_classes = 3;
  shape.floats = true;
  const Table table = discretize_cases::random_decisions(random, shape);
  const BestCuts first = [&] {
    const ForcedBackend reference("reference");
    return best_cuts(table, in_column_order());
  }();
  RunOptions run;
  for (const int threads : {1, 2, 3, 4, 11}) {  // one thread each takes 5, 4, 5, 4 and 0 columns
    SCOPED_TRACE(threads);
    run.threads = threads;
    expect_same(first, best_cuts(table, in_column_order(), run));
    if (HasFatalFailure()) return;
  }
}

Table two_halves(std::int64_t n) {
  std::vector<double> x(static_cast<std::size_t>(n));
  std::vector<std::int32_t> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i);
    y[i] = 2 * i < x.size() ? 0 : 1;
  }
  Table table;
  table.n_rows = n;
  table.columns = {make_numeric("x", x), make_nominal("y", y, {"a", "b"})};
  table.columns[1].role = Role::label;
  return table;
}

TEST(BestCut, BillionsOfPairs) {
  const BestCut half = best_cuts(two_halves(100000)).cuts[0];  // rivals with 32 bits say 705,032,704
  EXPECT_EQ(half.pairs, std::int64_t{50000} * 50000);
  EXPECT_EQ(half.cut, 49999.5);
  EXPECT_EQ(best_cuts(two_halves(200000)).cuts[0].pairs, std::int64_t{100000} * 100000);
}

TEST(BestCut, RowOrderOfTiesDoesNotMatterAsItDoesToRoughSets) {
  for (const std::vector<std::int32_t>& y :
       {std::vector<std::int32_t>{0, 1, 1, 1}, std::vector<std::int32_t>{1, 0, 1, 1}}) {
    Table table;
    table.n_rows = 4;
    table.columns = {make_numeric("x", {1, 1, 2, 3}), make_nominal("y", y, {"A", "B"})};
    table.columns[1].role = Role::label;
    const BestCut best = best_cuts(table).cuts[0];
    EXPECT_EQ(best.pairs, 2);
    EXPECT_EQ(best.cut, 1.5);
  }
}

TEST(BestCut, NothingToSeparateHasNoCut) {
  Table table;
  table.n_rows = 4;
  const double nan = std::nan("");
  table.columns = {make_numeric("constant", {2, 2, 2, 2}), make_numeric("missing", {nan, nan, nan, nan}),
                   make_nominal("one", {0, 0, 0, 0}, {"only", "never"}), make_nominal("y", {0, 1, 0, 1}, {"a", "b"})};
  table.columns[3].role = Role::label;
  for (const Criterion criterion : {Criterion::discernibility, Criterion::gini, Criterion::entropy}) {
    for (const BestCut& best : best_cuts(table, in_column_order(criterion)).cuts) {
      EXPECT_EQ(best.score, 0.0) << best.name;
      EXPECT_FALSE(best.cut || best.value) << best.name;
    }
  }
  Table single = two_halves(6);
  single.columns[1] = make_nominal("y", {0, 0, 0, 0, 0, 0}, {"a", "b"});
  single.columns[1].role = Role::label;
  EXPECT_EQ(best_cuts(single).cuts[0].pairs, 0);
  EXPECT_FALSE(best_cuts(single).cuts[0].cut);
}

TEST(BestCut, EqualProportionsGainNothingWhateverRoundingSays) {
  // Left has 1 + 3 rows, both sides have 3 + 9: Gini and entropy cannot gain, W does.
  Table table;
  table.n_rows = 12;
  table.columns = {make_numeric("x", {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}),
                   make_nominal("y", {0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1}, {"a", "b"})};
  table.columns[1].role = Role::label;
  EXPECT_EQ(best_cuts(table, in_column_order(Criterion::gini)).cuts[0].score, 0.0);
  EXPECT_EQ(best_cuts(table, in_column_order(Criterion::entropy)).cuts[0].score, 0.0);
  EXPECT_EQ(best_cuts(table, in_column_order()).cuts[0].pairs, 1 * 6 + 3 * 2);
}

TEST(BestCut, RankingIsByScoreThenColumn) {
  Random random(14);
  Shape shape;
  shape.n_rows = 30;
  shape.n_numeric = 50;
  const Table table = discretize_cases::random_decisions(random, shape);
  BestCutOptions options;
  options.missing = MissingPolicy::value;
  const BestCuts ranking = best_cuts(table, options);
  for (std::size_t i = 0; i + 1 < ranking.cuts.size(); ++i) {
    const BestCut &a = ranking.cuts[i], &b = ranking.cuts[i + 1];
    EXPECT_TRUE(a.score > b.score || (a.score == b.score && a.attribute < b.attribute));
  }
}

// Returns the least share of false discoveries among the attributes with p <= t, over all t from `p` on.
double q_value(const std::vector<BestCut>& cuts, double p) {
  double least = 1.0;
  for (const BestCut& limit : cuts) {
    if (*limit.p_value < p) continue;
    const auto n =
        std::count_if(cuts.begin(), cuts.end(), [&](const BestCut& c) { return *c.p_value <= *limit.p_value; });
    least = std::min(least, *limit.p_value * static_cast<double>(cuts.size()) / static_cast<double>(n));
  }
  return least;
}

TEST(BestCut, PermutationsSayWhatChanceDoes) {
  // One attribute follows the label, the others are noise.
  Random random(15);
  const std::int64_t n = 60;
  Table table;
  table.n_rows = n;
  std::vector<std::int32_t> y;
  for (std::int64_t i = 0; i < n; ++i) y.push_back(static_cast<std::int32_t>(i % 3 == 0));
  for (int c = 0; c < 40; ++c) {
    std::vector<double> x;
    for (const std::int32_t k : y) x.push_back(random.uniform() + (c == 7 ? 2.0 * k : 0.0));
    table.columns.push_back(make_numeric("x" + std::to_string(c), x));
  }
  table.columns.push_back(make_nominal("y", y, {"a", "b"}));
  table.columns.back().role = Role::label;
  BestCutOptions options;
  options.n_permutations = 199;
  const BestCuts ranking = best_cuts(table, options);
  EXPECT_EQ(ranking.cuts[0].attribute, 7);
  EXPECT_EQ(ranking.cuts[0].p_value, 1.0 / 200.0);
  EXPECT_EQ(ranking.cuts[0].family_p_value, 1.0 / 200.0);
  double mean = 0.0;
  for (std::size_t i = 1; i < ranking.cuts.size(); ++i) {
    const BestCut& cut = ranking.cuts[i];
    mean += *cut.p_value / 39.0;
    EXPECT_EQ(*cut.q_value, q_value(ranking.cuts, *cut.p_value));
    EXPECT_GE(*cut.family_p_value, *cut.p_value);
    EXPECT_GE(*cut.q_value, *ranking.cuts[0].q_value);
  }
  EXPECT_NEAR(mean, 0.5, 0.2);
  options.seed = 1;
  EXPECT_NE(best_cuts(table, options).cuts[20].p_value, ranking.cuts[20].p_value);
  options.n_permutations = -1;
  expect_error(ErrorCode::invalid_argument, "the number of permutations is -1", [&] { best_cuts(table, options); });
}

TEST(BestCut, ProgressCountsEachColumnOncePerPermutation) {
  constexpr std::int64_t kColumns = 9;
  Random random(16);
  const Table table = discretize_cases::random_decisions(random, {.n_rows = 50, .n_numeric = 6, .n_symbolic = 3});
  for (const std::int64_t n_permutations : {0, 1, 5}) {
    std::int64_t last = -1, total = -1;
    RunOptions run;
    run.device = "cpu";
    run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t all) {
      if (phase == (n_permutations > 0 ? "permutations" : "cuts")) last = done, total = all;
    };
    BestCutOptions options = in_column_order();
    options.n_permutations = n_permutations;
    best_cuts(table, options, run);
    EXPECT_EQ(total, kColumns * std::max<std::int64_t>(n_permutations, 1));
    EXPECT_EQ(last, total);
  }
}

}  // namespace
}  // namespace stope
