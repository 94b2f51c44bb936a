// Correlations agree with sums in long double, pair by pair, and have the same bits for any number of threads.
#include "stope/correlation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "same_table.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Slow {
  long double value;
  std::int64_t count;
};

// Two passes over the rows in which both are present.
Slow slow_pearson(const std::vector<double>& x, const std::vector<double>& y) {
  long double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
  std::int64_t n = 0;
  const auto both = [&](std::size_t i) { return x[i] == x[i] && y[i] == y[i]; };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!both(i)) continue;
    mx += static_cast<long double>(x[i]);
    my += static_cast<long double>(y[i]);
    ++n;
  }
  mx /= static_cast<long double>(n);
  my /= static_cast<long double>(n);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!both(i)) continue;
    const long double dx = static_cast<long double>(x[i]) - mx, dy = static_cast<long double>(y[i]) - my;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  if (n < 2 || xx == 0 || yy == 0) return {std::numeric_limits<long double>::quiet_NaN(), n};
  return {xy / std::sqrt(xx) / std::sqrt(yy), n};
}

// Counts, for every row that counts, the smaller and equal values.
std::vector<double> slow_ranks(const std::vector<double>& x, const std::vector<double>& other) {
  std::vector<double> ranks(x.size(), kNan);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != x[i] || other[i] != other[i]) continue;
    double smaller = 0, equal = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (other[j] != other[j]) continue;
      smaller += x[j] < x[i] ? 1 : 0;
      equal += x[j] == x[i] ? 1 : 0;
    }
    ranks[i] = smaller + (equal - 1) / 2;
  }
  return ranks;
}

using Columns = std::vector<std::vector<double>>;

Table table_of(const Columns& columns) {
  Table table;
  table.n_rows = columns.empty() ? 0 : std::ssize(columns[0]);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    table.columns.push_back(make_numeric("c" + std::to_string(i), columns[i]));
  }
  return table;
}

void expect_oracle(const Columns& columns, CorrelationMethod method, double tolerance) {
  const Correlation found = correlation(table_of(columns), {method});
  ASSERT_EQ(found.size(), std::ssize(columns));
  for (std::int64_t i = 0; i < found.size(); ++i) {
    for (std::int64_t j = 0; j < found.size(); ++j) {
      const auto &x = columns[static_cast<std::size_t>(i)], &y = columns[static_cast<std::size_t>(j)];
      const bool ranks = method == CorrelationMethod::spearman;
      const Slow expected = ranks ? slow_pearson(slow_ranks(x, y), slow_ranks(y, x)) : slow_pearson(x, y);
      EXPECT_EQ(found.count(i, j), expected.count) << i << " " << j;
      EXPECT_EQ(bits(found.at(i, j)), bits(found.at(j, i)));
      if (std::isnan(expected.value)) {
        EXPECT_TRUE(std::isnan(found.at(i, j))) << i << " " << j << ": " << found.at(i, j);
        continue;
      }
      EXPECT_NEAR(found.at(i, j), static_cast<double>(expected.value), tolerance) << i << " " << j;
      EXPECT_LE(std::fabs(found.at(i, j)), 1.0);
      if (i == j) {
        EXPECT_EQ(found.at(i, j), 1.0);
      }
    }
  }
}

// Linear mixtures, with some missing values in every second column.
Columns mixtures(std::int64_t n_rows, std::size_t n_columns, bool missing, std::uint64_t seed) {
  Random random(seed);
  Columns columns(n_columns);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const double common = random.uniform() - 0.5;
    for (std::size_t c = 0; c < n_columns; ++c) {
      const double own = random.uniform() - 0.5, share = static_cast<double>(c) / static_cast<double>(n_columns);
      const bool absent = missing && c % 2 == 1 && random.below(5) == 0;
      columns[c].push_back(absent ? kNan : (share * common + (1 - share) * own) * (c % 3 == 0 ? -1e6 : 1e-3));
    }
  }
  return columns;
}

TEST(Correlation, AgreesWithTheOracle) {
  for (const bool missing : {false, true}) {
    for (const std::int64_t n : {1, 2, 3, 100, 255, 256, 257, 4096, 4097, 9000}) {
      SCOPED_TRACE(std::to_string(n) + (missing ? " rows with gaps" : " rows"));
      expect_oracle(mixtures(n, 5, missing, 3), CorrelationMethod::pearson, 1e-13);
    }
    expect_oracle(mixtures(300, 70, missing, 4), CorrelationMethod::pearson, 1e-13);
  }
}

TEST(Correlation, OfRanksAgreesWithTheOracle) {
  for (const bool missing : {false, true}) {
    for (const std::int64_t n : {1, 2, 3, 50, 300}) {
      Columns columns = mixtures(n, 5, missing, 5);
      for (double& v : columns[2]) v = std::round(v * 4e3);  // ties
      expect_oracle(columns, CorrelationMethod::spearman, 1e-13);
    }
  }
}

TEST(Correlation, DoesNotExistForConstantColumnsOneRowAndNoCommonRow) {
  expect_oracle({{1, 2, 3}, {4, 4, 4}, {kNan, kNan, kNan}, {1, kNan, kNan}, {kNan, 5, 7}}, CorrelationMethod::pearson,
                1e-15);
  expect_oracle({{1}, {2}}, CorrelationMethod::pearson, 0.0);
  // 0.1 is no multiple of a power of two: the mean of many need not be 0.1, and yet the column is constant.
  expect_oracle({std::vector<double>(1000, 0.1), mixtures(1000, 1, false, 1)[0]}, CorrelationMethod::pearson, 1e-15);
}

// The present rows of the pair are far from the mean of the whole column, or constant there.
TEST(Correlation, OfAPairIsAboutThePairsOwnRows) {
  Random random(9);
  Columns columns(3);
  for (std::int64_t row = 0; row < 2000; ++row) {
    const bool few = row % 20 == 0;
    const double u = random.uniform();
    columns[0].push_back(few ? 1e6 + u : u * 10);  // where column 1 is present: 1e6 .. 1e6 + 1
    columns[1].push_back(few ? u + random.uniform() : kNan);
    columns[2].push_back(few ? 0.1 : u);  // constant there
  }
  expect_oracle(columns, CorrelationMethod::pearson, 1e-9);
  const Correlation found = correlation(table_of(columns));
  EXPECT_TRUE(std::isnan(found.at(1, 2)));
  EXPECT_GT(found.at(0, 1), 0.5);
}

TEST(Correlation, TakesLargeMeansAndLargeAndSmallValues) {
  Columns columns = mixtures(5000, 3, false, 12);
  for (double& v : columns[0]) v += 1e12;
  for (double& v : columns[1]) v *= 1e300;
  for (double& v : columns[2]) v *= 1e-290;
  expect_oracle(columns, CorrelationMethod::pearson, 1e-7);  // the oracle's own values of column 0 are rounded alike
  EXPECT_GT(std::fabs(correlation(table_of(columns)).at(1, 2)), 0.0);
}

TEST(Correlation, OfProportionalColumnsIsOne) {
  Columns columns = mixtures(3000, 1, false, 8);
  columns.push_back(columns[0]);
  columns.push_back(columns[0]);
  for (double& v : columns[1]) v = 4 * v;
  for (double& v : columns[2]) v = -v;
  const Correlation found = correlation(table_of(columns));
  EXPECT_NEAR(found.at(0, 1), 1.0, 1e-15);
  EXPECT_NEAR(found.at(0, 2), -1.0, 1e-15);
}

TEST(Correlation, AnInfiniteValueLeavesItsColumnWithout) {
  const Correlation found = correlation(table_of({{1, 2, 3, 5}, {kInf, 1, 2, kNan}, {2, 1, 5, 5}}));
  EXPECT_TRUE(std::isnan(found.at(0, 1)) && std::isnan(found.at(1, 1)) && std::isnan(found.at(1, 2)));
  EXPECT_EQ(found.count(0, 1), 3);
  EXPECT_EQ(found.count(1, 1), 3);
  EXPECT_FALSE(std::isnan(found.at(0, 2)));
}

TEST(Correlation, HasTheSameBitsForAnyThreads) {
  for (const bool missing : {false, true}) {
    for (const CorrelationMethod method : {CorrelationMethod::pearson, CorrelationMethod::spearman}) {
      const Table table = table_of(mixtures(9000, 18, missing, 6));
      RunOptions run;
      run.threads = 1;
      const Correlation expected = correlation(table, {method}, run);
      for (const int threads : {2, 5}) {
        run.threads = threads;
        const Correlation found = correlation(table, {method}, run);
        for (std::int64_t i = 0; i < 18 * 18; ++i) EXPECT_EQ(bits(found.values[i]), bits(expected.values[i])) << i;
      }
    }
  }
}

TEST(Correlation, TakesFeaturesAndANumericLabelAndSinglePrecision) {
  const Columns columns = mixtures(500, 5, false, 2);
  Table table = table_of(columns);
  table.columns.push_back(make_nominal("word", std::vector<std::int32_t>(500, 0), {"a"}));
  table.columns[0].role = Role::id;
  table.columns[1].role = Role::weight;
  table.columns[2].role = Role::label;
  Buffer<float> singles(500);
  for (std::int64_t row = 0; row < 500; ++row)
    singles[row] = static_cast<float>(columns[4][static_cast<std::size_t>(row)]);
  table.columns[4].data = singles;
  const Correlation found = correlation(table);
  EXPECT_EQ(found.names, (std::vector<std::string>{"c2", "c3", "c4"}));
  EXPECT_EQ(found.target, 0);
  EXPECT_NEAR(found.at(0, 2), static_cast<double>(slow_pearson(columns[2], columns[4]).value), 1e-6);
  table.columns[2].role = Role::ignore;
  EXPECT_EQ(correlation(table).target, -1);
}

TEST(Correlation, RefusesWhatCannotBe) {
  const auto code_of = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of([] { correlation(Table{}); }), ErrorCode::invalid_data);
  const Table table = table_of(mixtures(3, 2000, false, 1));
  RunOptions run;
  run.memory_limit = 1'000'000;
  EXPECT_EQ(code_of([&] { correlation(table, {}, run); }), ErrorCode::out_of_memory);
  run.memory_limit = 0;
  run.cancel.cancel();
  EXPECT_EQ(code_of([&] { correlation(table, {}, run); }), ErrorCode::cancelled);
  EXPECT_EQ(code_of([] { correlation_method("kendall"); }), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stope
