// Compares the scan of a node with class counts of every split, computed anew, for every criterion.
#include "tree/split_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "stope/discretize.hpp"

namespace stope::tree {
namespace {

constexpr auto kTellNobody = [](std::int64_t) {};

struct Case {
  std::vector<RankedRow> rows;
  std::vector<std::int32_t> classes;
  std::vector<std::int64_t> weights, counts;
  NodeTotals totals;

  Case(std::uint64_t seed, bool unit, std::uint64_t most_classes) {
    Random random(seed);
    const std::uint64_t n = 2 + random.below(30), n_classes = 2 + random.below(most_classes - 1),
                        n_ranks = 1 + random.below(8);
    counts.assign(n_classes, 0);
    std::vector<std::uint32_t> ranks;
    for (std::uint64_t i = 0; i < n; ++i) ranks.push_back(static_cast<std::uint32_t>(random.below(n_ranks)));
    std::sort(ranks.begin(), ranks.end());
    for (std::uint32_t row = 0; row < n; ++row) {
      rows.push_back(ranked_row(ranks[row], row));
      classes.push_back(static_cast<std::int32_t>(random.below(n_classes)));
      weights.push_back(unit ? 1 : 1 + static_cast<std::int64_t>(random.below(3)));
      counts[static_cast<std::size_t>(classes.back())] += weights.back();
    }
    totals = {counts.data(), static_cast<std::int64_t>(n_classes),
              std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), static_cast<std::int64_t>(n),
              std::count_if(counts.begin(), counts.end(), [](std::int64_t k) { return k > 0; })};
  }
};

double impurity(Criterion criterion, const std::vector<std::int64_t>& counts) {
  const auto n = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  double sum = criterion == Criterion::gini ? 1.0 : 0.0;
  for (const std::int64_t count : counts) {
    const double p = static_cast<double>(count) / n;
    if (criterion == Criterion::gini) sum -= p * p;
    if (criterion == Criterion::entropy && p > 0) sum -= p * std::log2(p);
  }
  return sum;
}

// Returns the worth of the split into rows [begin, end) and the others.
double worth(const Case& c, Criterion criterion, std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> in(c.counts.size(), 0), out(c.counts.size(), 0);
  for (std::int64_t i = 0; i < c.totals.n_rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    (i >= begin && i < end ? in : out)[static_cast<std::size_t>(c.classes[at])] += c.weights[at];
  }
  const auto n_in = static_cast<double>(std::accumulate(in.begin(), in.end(), std::int64_t{0}));
  const auto n_out = static_cast<double>(std::accumulate(out.begin(), out.end(), std::int64_t{0}));
  if (criterion != Criterion::discernibility) {
    return impurity(criterion, c.counts) -
           (n_in * impurity(criterion, in) + n_out * impurity(criterion, out)) / (n_in + n_out);
  }
  double w = n_in * n_out;
  for (std::size_t k = 0; k < in.size(); ++k) w -= static_cast<double>(in[k]) * static_cast<double>(out[k]);
  return w;
}

template <class Scan>
void compare(Criterion criterion, Scan scan, double tolerance, std::uint64_t most_classes = 5) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Case c(seed, Scan::kUnit, most_classes);
    const RowLabels labels{c.classes.data(), c.weights.data()};
    const std::int64_t n = c.totals.n_rows;
    for (const std::int64_t least : {1, 3}) {
      double numeric = 0.0, symbolic = 0.0;
      for (std::int64_t begin = 0, end = 0; begin < n; begin = end) {
        const auto rank = [&](std::int64_t i) { return rank_of(c.rows[static_cast<std::size_t>(i)]); };
        for (end = begin; end < n && rank(end) == rank(begin); ++end) continue;
        if (end >= least && n - end >= least && end < n) numeric = std::max(numeric, worth(c, criterion, 0, end));
        const std::int64_t inside = end - begin;
        if (inside >= least && n - inside >= least && inside < n)
          symbolic = std::max(symbolic, worth(c, criterion, begin, end));
      }
      const auto cut = best_numeric_split(scan, c.totals, c.rows.data(), labels, least, kTellNobody);
      const auto value = best_symbolic_split(scan, c.totals, c.rows.data(), labels, least, kTellNobody);
      EXPECT_NEAR(static_cast<double>(cut.value), numeric, tolerance) << seed;
      EXPECT_NEAR(static_cast<double>(value.value), symbolic, tolerance) << seed;
      if (cut.value > 0) {
        EXPECT_NEAR(worth(c, criterion, cut.begin, cut.end), static_cast<double>(cut.value), tolerance) << seed;
      }
      if (value.value > 0) {
        EXPECT_NEAR(worth(c, criterion, value.begin, value.end), static_cast<double>(value.value), tolerance) << seed;
      }
    }
  }
}

TEST(SplitScan, FindsTheBestOfAllSplits) {
  const discretize::InformationTable information(100);
  compare(Criterion::discernibility, PairScan<std::int64_t>(), 0.0);
  compare(Criterion::discernibility, TwoClassScan(), 0.0, 2);
  compare(Criterion::discernibility, PairScan<discretize::Int128>(), 0.0);
  compare(Criterion::gini, GiniScan(), 1e-12);
  compare(Criterion::entropy, EntropyScan(information), 1e-12);
}

// Both sides hold the classes in equal proportions: rounding must not turn that into a split.
TEST(SplitScan, EqualProportionsGainNothing) {
  const discretize::InformationTable information(100);
  std::vector<RankedRow> rows;
  std::vector<std::int32_t> classes;
  for (std::uint32_t row = 0; row < 70; ++row) {
    rows.push_back(ranked_row(row / 7, row));
    classes.push_back(row % 7 < 3 ? 0 : row % 7 < 4 ? 1 : 2);
  }
  const std::vector<std::int64_t> counts = {30, 10, 30};
  const NodeTotals totals{counts.data(), 3, 70, 70, 3};
  GiniScan gini;
  EntropyScan entropy(information);
  EXPECT_EQ(best_numeric_split(gini, totals, rows.data(), {classes.data(), nullptr}, 1, kTellNobody).value, 0.0);
  EXPECT_EQ(best_symbolic_split(gini, totals, rows.data(), {classes.data(), nullptr}, 1, kTellNobody).value, 0.0);
  EXPECT_EQ(best_numeric_split(entropy, totals, rows.data(), {classes.data(), nullptr}, 1, kTellNobody).value, 0.0);
  EXPECT_EQ(best_symbolic_split(entropy, totals, rows.data(), {classes.data(), nullptr}, 1, kTellNobody).value, 0.0);
}

}  // namespace
}  // namespace stope::tree
