// Compares sets of cuts with slow references, and checks the promises of every method.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "discretize/chi_square.hpp"
#include "discretize/discretize_cases.hpp"
#include "discretize/md_global.hpp"
#include "discretize/mdlp_price.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "oracle/interval_oracle.hpp"
#include "stope/error.hpp"
#include "stope/find_cuts.hpp"
#include "stope/tree.hpp"

namespace stope {
namespace {

using discretize_cases::Shape;

constexpr DiscretizeMethod kMethods[] = {DiscretizeMethod::md_global,   DiscretizeMethod::md_local,
                                         DiscretizeMethod::mdlp,        DiscretizeMethod::chimerge,
                                         DiscretizeMethod::equal_width, DiscretizeMethod::equal_frequency};

DiscretizeOptions by(DiscretizeMethod method) {
  DiscretizeOptions options;
  options.method = method;
  options.missing = MissingPolicy::value;
  return options;
}

Table random_table(Random& random, int trial, std::int64_t most_rows, bool weighted) {
  Shape shape;
  shape.n_rows = static_cast<std::int64_t>(1 + random.below(static_cast<std::uint64_t>(most_rows)));
  shape.n_numeric = static_cast<int>(1 + random.below(5));
  shape.n_symbolic = static_cast<int>(random.below(3));
  shape.n_classes = static_cast<std::int32_t>(2 + random.below(trial % 3 == 0 ? 20 : 2));
  shape.weighted = weighted;
  shape.floats = trial % 4 == 0;
  return discretize_cases::random_decisions(random, shape);
}

// Returns the numbers that a set has for an attribute; none where it is not in the set.
std::vector<double> numbers_of(const CutSet& cuts, const std::string& name) {
  for (const AttributeCuts& one : cuts) {
    if (one.name == name) return one.numbers;
  }
  return {};
}

template <class Check>
void each_numeric(const Table& table, const Check& check) {
  const oracle::Decisions decisions = discretize_cases::decisions_of(table);
  for (const Column& column : table.columns) {
    if (column.nominal() || column.role != Role::regular) continue;
    check(column.name, oracle::present(discretize_cases::feature_of(column), decisions), decisions.n_classes);
  }
}

// As long as 3^k is a double the 2 counts; beyond, 3^k would soon be infinite, and no cut would ever pay.
TEST(Mdlp, ChoicesAreCountedExactlyWhile3ToTheKIsADouble) {
  std::int64_t power = 1;
  for (int k = 1; k <= 33; ++k) {
    power *= 3;
    EXPECT_EQ(discretize::bits_of_choices(k), discretize::log2_of(static_cast<double>(power - 2))) << k;
  }
  for (const int k : {34, 100, 646, 647, 100'000}) {
    EXPECT_DOUBLE_EQ(discretize::bits_of_choices(k), k * std::log2(3.0)) << k;
  }
}

TEST(Mdlp, CutsBetweenMoreClassesThanPowersOf3AreDoubles) {
  constexpr int kClasses = 700, kRows = 20;  // of every class
  std::vector<double> x;
  std::vector<std::int32_t> codes;
  std::vector<std::string> names;
  for (int k = 0; k < kClasses; ++k) {
    names.push_back("c" + std::to_string(k));
    x.insert(x.end(), kRows, k);
    codes.insert(codes.end(), kRows, k);
  }
  Table table;
  table.n_rows = kClasses * kRows;
  table.columns = {make_numeric("x", x), make_nominal("y", codes, names)};
  table.columns[1].role = Role::label;
  EXPECT_EQ(numbers_of(find_cuts(table, by(DiscretizeMethod::mdlp)), "x").size(), kClasses - 1);
}

TEST(Mdlp, IsWhatTheCriterionSaysOnRandomTables) {
  Random random(21);
  const int n_tables = repeated(1500, 150);
  std::size_t n_cuts = 0;
  for (int trial = 0; trial < n_tables; ++trial) {
    const Table table = random_table(random, trial, trial % 10 == 0 ? 120 : 30, false);
    const CutSet cuts = find_cuts(table, by(DiscretizeMethod::mdlp));
    each_numeric(table, [&](const std::string& name, const oracle::Column& column, std::int32_t n_classes) {
      const std::vector<double> found = numbers_of(cuts, name);
      n_cuts += found.size();
      ASSERT_TRUE(std::is_sorted(found.begin(), found.end()));
      ASSERT_TRUE(oracle::is_mdlp(column, 0, column.values.size(), n_classes, found))
          << trial << " " << name << ": " << testing::PrintToString(column.values) << " "
          << testing::PrintToString(column.classes) << " cuts " << testing::PrintToString(found);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(n_cuts, static_cast<std::size_t>(n_tables) / 10);  // few random tables have any cuts
}

TEST(ChiMerge, IsWhatMergingOneByOneGives) {
  Random random(22);
  const int n_tables = repeated(1000, 100);
  for (int trial = 0; trial < n_tables; ++trial) {
    const Table table = random_table(random, trial, 30, false);
    DiscretizeOptions options = by(DiscretizeMethod::chimerge);
    options.confidence = trial % 2 == 0 ? 0.9 : 0.5;
    options.min_intervals = 1 + static_cast<std::int64_t>(random.below(4));
    const CutSet cuts = find_cuts(table, options);
    const oracle::Decisions decisions = discretize_cases::decisions_of(table);
    std::vector<std::int32_t> classes = decisions.classes;
    std::sort(classes.begin(), classes.end());
    const auto n_present = std::unique(classes.begin(), classes.end()) - classes.begin();
    each_numeric(table, [&](const std::string& name, const oracle::Column& column, std::int32_t n_classes) {
      std::vector<double> wanted;
      if (n_present > 1) {
        const double threshold =
            discretize::chi_square_quantile(options.confidence, static_cast<double>(n_present - 1));
        wanted = oracle::chimerge(column, n_classes, threshold, static_cast<std::size_t>(options.min_intervals));
      }
      ASSERT_EQ(numbers_of(cuts, name), wanted) << trial << " " << name;
    });
    if (HasFatalFailure()) return;
  }
}

TEST(ChiMerge, ChiSquareQuantilesAreSciPys) {
  EXPECT_NEAR(discretize::chi_square_quantile(0.9, 1), 2.705543454095404, 1e-12);
  EXPECT_NEAR(discretize::chi_square_quantile(0.9, 2), 4.605170185988092, 1e-12);
  EXPECT_NEAR(discretize::chi_square_quantile(0.95, 10), 18.307038053275146, 1e-11);
  EXPECT_NEAR(discretize::chi_square_quantile(0.9, 49), 62.03753678530966, 1e-10);
  EXPECT_NEAR(discretize::chi_square_quantile(0.05, 7), 2.167349909298057, 1e-12);
  EXPECT_NEAR(discretize::chi_square_quantile(0.9, 999), 1056.6952292962342, 1e-8);
  EXPECT_EQ(discretize::chi_square_below(0.0, 3), 0.0);
  EXPECT_EQ(discretize::chi_square_below(1e6, 3), 1.0);
}

TEST(MdGlobal, IsWhatCountingEveryPairGives) {
  Random random(23);
  const int n_tables = repeated(1500, 150);
  for (int trial = 0; trial < n_tables; ++trial) {
    const Table table = random_table(random, trial, 16, trial % 5 == 0);
    const discretize::DecisionProblem problem = discretize::make_problem(table, MissingPolicy::value);
    std::vector<oracle::Feature> features;
    for (const std::int64_t f : table.features()) {
      features.push_back(discretize_cases::feature_of(table.columns[static_cast<std::size_t>(f)]));
    }
    const auto wanted = oracle::md_global(features, discretize_cases::decisions_of(table));
    const auto found = discretize::global_cuts(problem, 0, {});
    ASSERT_EQ(found.size(), wanted.size()) << trial;
    const double unit = problem.weighted ? 0x1.0p-40 : 1.0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE("table " + std::to_string(trial) + ", cut " + std::to_string(i));
      ASSERT_EQ(static_cast<std::size_t>(found[i].attribute), wanted[i].attribute);
      ASSERT_EQ(discretize::to_double(found[i].pairs) * unit, wanted[i].pairs);
      if (features[wanted[i].attribute].symbolic()) {
        ASSERT_EQ(found[i].value, wanted[i].value);
      } else {
        ASSERT_EQ(found[i].cut, wanted[i].cut);
      }
    }
    if (found.size() > 1) {
      ASSERT_EQ(discretize::global_cuts(problem, 1, {}).size(), 1U);
    }
  }
}

// Whether rows differ in no feature: NaN is a value, -0 is 0.
bool same_rows(const Table& table, std::int64_t a, std::int64_t b) {
  for (const std::int64_t f : table.features()) {
    const Column& column = table.columns[static_cast<std::size_t>(f)];
    const double x = column.at(a), y = column.at(b);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

TEST(MdGlobal, TheCodedTableIsConsistent) {
  Random random(24);
  const int n_tables = repeated(300, 50);
  for (int trial = 0; trial < n_tables; ++trial) {
    const Table table = random_table(random, trial, 40, false);
    const Table coded =
        apply_cuts(table, find_cuts(table, by(DiscretizeMethod::md_global)), {MissingPolicy::value, {}});
    const oracle::Decisions decisions = discretize_cases::decisions_of(table);
    for (std::int64_t i = 0; i < table.n_rows; ++i) {
      for (std::int64_t j = 0; j < i; ++j) {
        if (decisions.classes[static_cast<std::size_t>(i)] == decisions.classes[static_cast<std::size_t>(j)]) continue;
        ASSERT_EQ(same_rows(coded, i, j), same_rows(table, i, j)) << trial << " rows " << i << " " << j;
      }
    }
  }
}

TEST(EqualWidth, DividesTheRangeOfFiniteValues) {
  Table table;
  table.n_rows = 6;
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  table.columns = {make_numeric("a", {0, 1, 2, 3, 10, nan}),
                   make_numeric("b", {-infinity, 0, infinity, 4, 4, nan}),
                   make_numeric("c", {3, 3, 3, 3, 3, 3}),
                   make_numeric("d", {1, std::nextafter(1.0, 2.0), 1, 1, 1, 1}),
                   make_numeric("e", {-1.7e308, 1.7e308, 0, 0, 0, 0}),
                   make_numeric("f", {nan, nan, nan, nan, nan, nan})};
  DiscretizeOptions options = by(DiscretizeMethod::equal_width);
  options.n_bins = 4;
  const CutSet cuts = find_cuts(table, options);
  EXPECT_EQ(numbers_of(cuts, "a"), (std::vector<double>{2.5, 5, 7.5}));
  EXPECT_EQ(numbers_of(cuts, "b"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(numbers_of(cuts, "c"), std::vector<double>{});
  EXPECT_EQ(numbers_of(cuts, "d"), std::vector<double>{std::nextafter(1.0, 2.0)});
  const std::vector<double> huge = numbers_of(cuts, "e");  // its range overflows
  ASSERT_EQ(huge.size(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(huge[static_cast<std::size_t>(i)] / 8.5e307, i - 1, 1e-15);
  EXPECT_EQ(numbers_of(cuts, "f"), std::vector<double>{});
}

TEST(EqualFrequency, TakesTheNearestBoundariesOnRandomTables) {
  Random random(25);
  const int n_tables = repeated(500, 50);
  for (int trial = 0; trial < n_tables; ++trial) {
    const Table table = random_table(random, trial, 40, false);
    DiscretizeOptions options = by(DiscretizeMethod::equal_frequency);
    options.n_bins = static_cast<std::int64_t>(1 + random.below(8));
    const CutSet cuts = find_cuts(table, options);
    each_numeric(table, [&](const std::string& name, const oracle::Column& column, std::int32_t) {
      std::vector<double> wanted;
      const auto n = static_cast<std::int64_t>(column.values.size());
      for (std::int64_t i = 1; i < options.n_bins; ++i) {
        std::int64_t nearest = -1;
        for (std::int64_t at = 1; at < n; ++at) {
          if (!(column.values[static_cast<std::size_t>(at) - 1] < column.values[static_cast<std::size_t>(at)]))
            continue;
          const auto distance = [&](std::int64_t place) { return std::abs(place * options.n_bins - i * n); };
          if (nearest < 0 || distance(at) < distance(nearest)) nearest = at;
        }
        if (nearest < 0) continue;
        const double cut = oracle::middle(column.values[static_cast<std::size_t>(nearest) - 1],
                                          column.values[static_cast<std::size_t>(nearest)]);
        if (wanted.empty() || wanted.back() < cut) wanted.push_back(cut);
      }
      ASSERT_EQ(numbers_of(cuts, name), wanted) << trial << " " << name;
    });
    if (HasFatalFailure()) return;
  }
}

TEST(Methods, NothingDependsOnRowOrderOrThreads) {
  Random random(26);
  const int n_tables = repeated(60, 20);
  for (int trial = 0; trial < n_tables; ++trial) {
    const Table table = random_table(random, trial, 200, trial % 3 == 0);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(table.n_rows));
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t i = rows.size() - 1; i > 0; --i) std::swap(rows[i], rows[random.below(i + 1)]);
    const Table shuffled = table.take(rows);
    RunOptions one_thread;
    one_thread.threads = 1;
    for (const DiscretizeMethod method : kMethods) {
      const CutSet a = find_cuts(table, by(method)), b = find_cuts(shuffled, by(method), one_thread);
      ASSERT_EQ(a.size(), b.size()) << to_string(method);
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].name, b[i].name);
        EXPECT_EQ(a[i].numbers, b[i].numbers) << to_string(method) << " " << a[i].name;
        EXPECT_EQ(a[i].values, b[i].values);
      }
    }
  }
}

TEST(Methods, LocalCutsAreThoseOfATree) {
  Random random(31);
  for (int trial = 0; trial < 20; ++trial) {
    const Table table = random_table(random, trial, 300, trial % 2 == 0);
    BackendReport report;
    const CutSet cuts = find_cuts(table, by(DiscretizeMethod::md_local), {}, &report);
    const CutSet of_tree = DecisionTree::fit(table, {.missing = MissingPolicy::value}).cuts();
    ASSERT_EQ(cuts.size(), of_tree.size());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      EXPECT_EQ(cuts[i].name, of_tree[i].name);
      EXPECT_EQ(cuts[i].numbers, of_tree[i].numbers);
      EXPECT_EQ(cuts[i].values, of_tree[i].values);
    }
    EXPECT_NE(report.backend, "");
  }
}

TEST(Methods, WhatTheyCannotUseIsRefused) {
  Table table;
  table.n_rows = 3;
  table.columns = {make_numeric("x", {1, 2, 3}), make_nominal("y", {0, 1, 0}, {"a", "b"})};
  const auto code = [&](const DiscretizeOptions& options) {
    try {
      find_cuts(table, options);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code(by(DiscretizeMethod::mdlp)), ErrorCode::invalid_argument);  // no label
  EXPECT_EQ(numbers_of(find_cuts(table, by(DiscretizeMethod::equal_frequency)), "x").size(), 2U);
  table.columns[1].role = Role::label;
  DiscretizeOptions options = by(DiscretizeMethod::equal_width);
  for (const std::int64_t bins : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{65537}}) {
    options.n_bins = bins;
    EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  }
  options.n_bins = 65536;
  EXPECT_EQ(numbers_of(find_cuts(table, options), "x").size(), 65535U);
  options = by(DiscretizeMethod::chimerge);
  for (const double confidence : {0.0, 1.0, -3.0, std::nan("")}) {
    options.confidence = confidence;
    EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  }
  options = by(DiscretizeMethod::md_global);
  options.max_cuts = -1;
  EXPECT_EQ(code(options), ErrorCode::invalid_argument);
  expect_error(ErrorCode::invalid_argument, "unknown method of discretisation 'mdl'",
               [&] { discretize_method("mdl"); });
  EXPECT_EQ(discretize_method("md-global"), DiscretizeMethod::md_global);
}

}  // namespace
}  // namespace stope
