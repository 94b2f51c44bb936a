// Normalisation under stope's own rules: formulas, missing values, constants, refusals.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fault.hpp"
#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"
#include "stope/normalize.hpp"

namespace stope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInf = std::numeric_limits<double>::infinity();

Table table_of(std::vector<Column> columns) {
  Table table;
  table.n_rows = columns.empty() ? 0 : columns[0].size();
  table.columns = std::move(columns);
  return table;
}

NormalizeOptions by(Normalization method, double min = 0.0, double max = 1.0) {
  NormalizeOptions options;
  options.method = method;
  options.min = min;
  options.max = max;
  return options;
}

std::vector<double> values_of(const Column& column) {
  std::vector<double> values;
  for (std::int64_t row = 0; row < column.size(); ++row) values.push_back(column.at(row));
  return values;
}

std::vector<double> normalized(const std::vector<double>& values, const NormalizeOptions& options) {
  const Table table = table_of({make_numeric("v", values)});
  return values_of(Normalizer::fit(table, options).apply(table).columns[0]);
}

void expect_bits(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(actual[i])) << "row " << i;
    } else {
      EXPECT_EQ(actual[i], expected[i]) << "row " << i;
      EXPECT_EQ(std::signbit(actual[i]), std::signbit(expected[i])) << "row " << i;
    }
  }
}

TEST(Range, MapsTheExtremesToTheInterval) {
  expect_bits(normalized({2.0, 6.0, kNaN, 4.0}, by(Normalization::range)), {0.0, 1.0, kNaN, 0.5});
  expect_bits(normalized({2.0, 6.0, 3.0}, by(Normalization::range, -1.0, 3.0)), {-1.0, 3.0, 0.0});
}

TEST(Range, AgreesWithScikitLearn) {
  // MinMaxScaler((-1, 2)).fit_transform([[1], [2], [4], [nan], [8], [16.5]]), scikit-learn 1.9.1. Its operations have
  // another order, so the last bits differ.
  const std::vector<double> expected = {-1.0, -0.8064516129032259, -0.4193548387096775, kNaN, 0.35483870967741926, 2.0};
  const std::vector<double> actual = normalized({1, 2, 4, kNaN, 8, 16.5}, by(Normalization::range, -1.0, 2.0));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i == 3) continue;
    EXPECT_NEAR(actual[i], expected[i], 1e-15);
  }
  EXPECT_TRUE(std::isnan(actual[3]));
}

TEST(Range, AConstantColumnBecomesMinAndKeepsItsScaleForOthers) {
  // MinMaxScaler((3, 5)) of a constant 7 gives 3, and 9 gives 7: the scale of a constant column is 1.
  expect_bits(normalized({7.0, 7.0, kNaN}, by(Normalization::range, 3.0, 5.0)), {3.0, 3.0, kNaN});
  const Normalizer fitted =
      Normalizer::fit(table_of({make_numeric("v", {7.0, 7.0})}), by(Normalization::range, 3.0, 5.0));
  expect_bits(values_of(fitted.apply(table_of({make_numeric("v", {9.0, 7.0})})).columns[0]), {7.0, 3.0});
}

TEST(Range, RefusesWhatIsNoInterval) {
  const Table table = table_of({make_numeric("v", {1.0, 2.0})});
  for (const auto& [min, max] : {std::pair{1.0, 1.0}, {2.0, 1.0}, {kNaN, 1.0}, {0.0, kInf}}) {
    try {
      Normalizer::fit(table, by(Normalization::range, min, max));
      FAIL() << min << " to " << max;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    }
  }
  EXPECT_NO_THROW(Normalizer::fit(table, by(Normalization::z, 1.0, 1.0))) << "other methods have no range";
}

TEST(Z, UsesTheSampleDeviation) {
  // mean 4, deviations -3 -1 0 4, squares 9 1 0 16: variance 26/3.
  const double deviation = std::sqrt(26.0 / 3.0);
  expect_bits(normalized({1.0, 3.0, kNaN, 4.0, 8.0}, by(Normalization::z)),
              {-3.0 / deviation, -1.0 / deviation, kNaN, 0.0, 4.0 / deviation});
}

TEST(Z, AConstantColumnBecomesZero) {
  expect_bits(normalized({5.0}, by(Normalization::z)), {0.0});
  // The rounded mean of ten 0.1 is not 0.1, but the result must be 0.
  for (const std::int64_t n : {2, 10, 129, 1000}) {
    expect_bits(normalized(std::vector<double>(static_cast<std::size_t>(n), 0.1), by(Normalization::z)),
                std::vector<double>(static_cast<std::size_t>(n), 0.0));
  }
}

TEST(Z, SurvivesALargeMean) {
  // The one-pass variance of 1e9 + {0, 1, 2} is lost in rounding.
  expect_bits(normalized({1e9, 1e9 + 1, 1e9 + 2}, by(Normalization::z)), {-1.0, 0.0, 1.0});
}

TEST(Z, SurvivesSquaresThatOverflowOrVanish) {
  expect_bits(normalized({0x1p600, 0.0, -0x1p600}, by(Normalization::z)), {1.0, 0.0, -1.0});
  expect_bits(normalized({0x1p-600, 0.0, -0x1p-600}, by(Normalization::z)), {1.0, 0.0, -1.0});
}

TEST(Z, IsTheSameForEveryThreadCount) {
  Random random(17);
  std::vector<Column> columns;
  for (int c = 0; c < 9; ++c) {
    std::vector<double> values(1037);
    for (double& v : values) v = random.below(10) == 0 ? kNaN : random.uniform() * 1e3;
    columns.push_back(make_numeric("v" + std::to_string(c), values));
  }
  const Table table = table_of(std::move(columns));
  for (const Normalization method :
       {Normalization::range, Normalization::z, Normalization::proportion, Normalization::interquartile}) {
    RunOptions one;
    one.threads = 1;
    const Table expected = Normalizer::fit(table, by(method), one).apply(table, one);
    for (int threads = 2; threads <= 8; ++threads) {
      RunOptions many;
      many.threads = threads;
      const Table actual = Normalizer::fit(table, by(method), many).apply(table, many);
      for (std::size_t c = 0; c < 9; ++c) expect_bits(values_of(actual.columns[c]), values_of(expected.columns[c]));
    }
  }
}

TEST(Proportion, IsTheShareOfTheSum) {
  expect_bits(normalized({1.0, kNaN, 3.0, 4.0}, by(Normalization::proportion)), {0.125, kNaN, 0.375, 0.5});
  expect_bits(normalized({-1.0, 5.0}, by(Normalization::proportion)), {-0.25, 1.25});
}

TEST(Proportion, LeavesZerosAndRefusesASumOfZero) {
  expect_bits(normalized({0.0, 0.0, kNaN}, by(Normalization::proportion)), {0.0, 0.0, kNaN});
  expect_error(ErrorCode::invalid_data, "column 'v': its values sum to 0, so they have no proportions",
               [] { normalized({-2.0, 2.0}, by(Normalization::proportion)); });
}

TEST(Interquartile, DividesByTheNormalisedQuartileDistance) {
  // Quartiles of 1 2 3 4 5: 2, 3, 4.
  const double scale = 2.0 / 1.349;
  expect_bits(normalized({5.0, 1.0, kNaN, 3.0, 2.0, 4.0}, by(Normalization::interquartile)),
              {2.0 / scale, -2.0 / scale, kNaN, 0.0, -1.0 / scale, 1.0 / scale});
}

TEST(Interquartile, HasNumPysQuartiles) {
  struct Case {
    int n;
    double q1, median, q3;
  };
  // r = [((i * 7919) % 101) / 7 for i in range(n)]; np.quantile(r, [.25, .5, .75]), NumPy 2
  const std::vector<Case> cases = {{1, 0.0, 0.0, 0.0},
                                   {2, 1.4642857142857142, 2.9285714285714284, 4.392857142857142},
                                   {3, 2.9285714285714284, 5.857142857142857, 8.785714285714285},
                                   {4, 2.357142857142857, 4.5, 7.321428571428571},
                                   {5, 3.142857142857143, 5.857142857142857, 9.0},
                                   {6, 1.1071428571428572, 4.5, 8.214285714285714},
                                   {7, 1.7857142857142856, 5.857142857142857, 7.642857142857142},
                                   {8, 2.4642857142857144, 6.071428571428571, 9.678571428571429},
                                   {31, 3.357142857142857, 6.714285714285714, 10.5},
                                   {32, 3.4642857142857144, 6.928571428571429, 10.392857142857142},
                                   {33, 3.5714285714285716, 7.142857142857143, 10.714285714285714}};
  for (const Case& c : cases) {
    std::vector<double> values;
    for (int i = 0; i < c.n; ++i) values.push_back(((i * 7919) % 101) / 7.0);
    const Normalizer fitted = Normalizer::fit(table_of({make_numeric("v", values)}), by(Normalization::interquartile));
    EXPECT_EQ(fitted.columns()[0].shift, c.median) << c.n << " values";
    EXPECT_EQ(fitted.columns()[0].scale, c.n == 1 ? 1.0 : (c.q3 - c.q1) / 1.349) << c.n << " values";
  }
}

TEST(Interquartile, ADistanceOfZeroScalesByOne) {
  expect_bits(normalized({3.0, 3.0, 3.0, 3.0, 10.0}, by(Normalization::interquartile)), {0.0, 0.0, 0.0, 0.0, 7.0});
}

TEST(Normalizer, NoneChangesNothing) {
  const Table table = table_of({make_nominal("n", {0, 1}, {"x", "y"}), make_numeric("v", {1.0, kInf})});
  NormalizeOptions options = by(Normalization::none);
  options.compat = Compat::rapidminer;
  const Table same = Normalizer::fit(table, options).apply(table);
  ASSERT_EQ(same.columns.size(), 2u);
  EXPECT_EQ(same.columns[0].name, "n");
  EXPECT_EQ(std::get<Buffer<double>>(same.columns[1].data).data(),
            std::get<Buffer<double>>(table.columns[1].data).data());
}

TEST(Normalizer, TouchesNumericFeaturesOnlyAndKeepsTheOrder) {
  Table table = table_of({make_nominal("n", {0, 1}, {"x", "y"}), make_numeric("i", {2.0, 4.0}, ValueType::integer),
                          make_numeric("id", {7.0, 8.0}), make_numeric("day", {10.0, 20.0}, ValueType::date),
                          make_numeric("y", {5.0, 6.0})});
  table.columns[2].role = Role::id;
  table.columns[4].role = Role::label;
  const Normalizer fitted = Normalizer::fit(table, by(Normalization::range));
  ASSERT_EQ(fitted.columns().size(), 2u);
  const Table result = fitted.apply(table);
  for (std::size_t c = 0; c < 5; ++c) {
    EXPECT_EQ(result.columns[c].name, table.columns[c].name);
    EXPECT_EQ(result.columns[c].role, table.columns[c].role);
  }
  expect_bits(values_of(result.columns[1]), {0.0, 1.0});
  expect_bits(values_of(result.columns[3]), {0.0, 1.0});
  EXPECT_EQ(result.columns[1].type, ValueType::real);
  EXPECT_EQ(result.columns[3].type, ValueType::real);
  for (const std::size_t c : {std::size_t{2}, std::size_t{4}}) {
    EXPECT_EQ(std::get<Buffer<double>>(result.columns[c].data).data(),
              std::get<Buffer<double>>(table.columns[c].data).data())
        << "untouched columns are shared";
  }
  EXPECT_NO_THROW(result.validate());
  expect_bits(values_of(table.columns[1]), {2.0, 4.0});
}

TEST(Normalizer, ReadsFloat32ExactlyAndGivesFloat64) {
  Buffer<float> buffer(3);
  buffer[0] = 0.1F;
  buffer[1] = 0.3F;
  buffer[2] = std::nanf("");
  const Table table = table_of({{"f", ValueType::real, Role::regular, buffer, {}}});
  const Table result = Normalizer::fit(table, by(Normalization::proportion)).apply(table);
  ASSERT_TRUE(std::holds_alternative<Buffer<double>>(result.columns[0].data));
  const double sum = static_cast<double>(0.1F) + static_cast<double>(0.3F);
  expect_bits(values_of(result.columns[0]), {static_cast<double>(0.1F) / sum, static_cast<double>(0.3F) / sum, kNaN});
}

TEST(Normalizer, AppliesByNameToAnotherTable) {
  const Normalizer fitted = Normalizer::fit(table_of({make_numeric("a", {0.0, 10.0}), make_numeric("b", {0.0, 100.0})}),
                                            by(Normalization::range));
  const Table other = table_of({make_numeric("extra", {9.0}), make_numeric("b", {250.0})});
  const Table result = fitted.apply(other);
  ASSERT_EQ(result.columns.size(), 2u) << "a missing column is not invented";
  EXPECT_EQ(result.columns[0].at(0), 9.0);
  EXPECT_EQ(result.columns[1].at(0), 2.5) << "values outside the fitted range are not clipped";
}

TEST(Normalizer, RefusesANominalColumnWhereANumericOneWasFitted) {
  const Normalizer fitted = Normalizer::fit(table_of({make_numeric("a", {0.0, 10.0})}), by(Normalization::range));
  Table other = table_of({make_nominal("a", {0}, {"x"})});
  other.source = "test.csv";
  expect_error(ErrorCode::invalid_data,
               "test.csv: column 'a' is polynominal, but the normalisation was fitted to a numeric column",
               [&] { fitted.apply(other); });
}

TEST(Normalizer, RefusesAnInfiniteValueInTheFitAndKeepsItInTheApplication) {
  for (const Normalization method :
       {Normalization::range, Normalization::z, Normalization::proportion, Normalization::interquartile}) {
    for (const double infinite : {kInf, -kInf}) {
      expect_error(ErrorCode::invalid_data, "column 'v', row 2: an infinite value cannot be normalised",
                   [&] { normalized({1.0, 2.0, infinite, 4.0}, by(method)); });
    }
    const Normalizer fitted = Normalizer::fit(table_of({make_numeric("v", {1.0, 2.0, 3.0})}), by(method));
    expect_bits(values_of(fitted.apply(table_of({make_numeric("v", {kInf, -kInf, kNaN})})).columns[0]),
                {kInf, -kInf, kNaN});
  }
}

TEST(Normalizer, RefusesStatisticsThatOverflow) {
  const double huge = std::numeric_limits<double>::max();
  for (const Normalization method : {Normalization::range, Normalization::interquartile}) {
    expect_error(ErrorCode::invalid_data, "column 'v': its values are too large to normalise by",
                 [&] { normalized({-huge, -huge, huge, huge}, by(method)); });
  }
  expect_error(ErrorCode::invalid_data,
               "column 'v': its values are too large to normalise by proportion (a sum or difference overflows)",
               [&] { normalized({huge, huge}, by(Normalization::proportion)); });
}

TEST(Z, NeedsNoSumThatIsADouble) {
  const double huge = std::numeric_limits<double>::max();
  const std::vector<double> scaled = normalized({huge, huge, 0.0}, by(Normalization::z));
  EXPECT_NEAR(scaled[0], std::sqrt(1.0 / 3), 1e-15);
  EXPECT_NEAR(scaled[2], -2 * std::sqrt(1.0 / 3), 1e-15);
}

TEST(Normalizer, AColumnWithoutValuesIsLeftAlone) {
  for (const Normalization method :
       {Normalization::range, Normalization::z, Normalization::proportion, Normalization::interquartile}) {
    expect_bits(normalized({}, by(method)), {});
    expect_bits(normalized({kNaN, kNaN}, by(method)), {kNaN, kNaN});
    const Normalizer fitted = Normalizer::fit(table_of({make_numeric("v", {kNaN})}), by(method));
    expect_bits(values_of(fitted.apply(table_of({make_numeric("v", {-0.0, 5.0})})).columns[0]), {-0.0, 5.0});
  }
}

TEST(Normalizer, StopsWhenCancelled) {
  const Table table = table_of({make_numeric("v", {1.0, 2.0})});
  RunOptions run;
  const Normalizer fitted = Normalizer::fit(table, by(Normalization::z), run);
  run.cancel.cancel();
  for (const auto& act : std::vector<std::function<void()>>{[&] { Normalizer::fit(table, by(Normalization::z), run); },
                                                            [&] { fitted.apply(table, run); }}) {
    try {
      act();
      FAIL() << "no exception";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
  }
}

TEST(Normalizer, ReadsNothingBehindAColumn) {
  // Behind the column lies a page that may not be read.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE), 0);
  const std::shared_ptr<void> owner(pages, [page](void* p) { ::munmap(p, 2 * page); });
  const auto n = static_cast<std::int64_t>(page / sizeof(double));
  auto* const values = static_cast<double*>(pages);
  for (std::int64_t row = 0; row < n; ++row) values[row] = static_cast<double>(row);
  Table table = table_of({make_numeric("v", {0.0})});
  table.n_rows = n;
  table.columns[0].data = Buffer<double>::borrow(values, n, owner);
  for (const Normalization method :
       {Normalization::range, Normalization::z, Normalization::proportion, Normalization::interquartile}) {
    const Table result = Normalizer::fit(table, by(method)).apply(table);
    EXPECT_EQ(result.columns[0].size(), n);
  }
}

TEST(Normalizer, AMemoryLimitWithRoomForOneColumnLeavesOneThread) {
  std::vector<Column> columns;
  for (int c = 0; c < 8; ++c) {
    std::vector<double> values(10'000);
    for (std::size_t row = 0; row < values.size(); ++row) values[row] = static_cast<double>(row * 7 % 1009);
    columns.push_back(make_numeric("c" + std::to_string(c), values));
  }
  const Table table = table_of(std::move(columns));
  const auto n_threads = [] {
    const std::filesystem::directory_iterator threads("/proc/self/task");
    return std::distance(threads, std::filesystem::directory_iterator());
  };
  const std::ptrdiff_t before = n_threads();
  for (const bool limited : {true, false}) {
    RunOptions run;
    run.threads = 4;
    run.memory_limit = limited ? 100'000 : 0;  // a column of copied values takes 80,000 bytes
    std::ptrdiff_t most = 0;
    run.progress = [&](std::string_view phase, std::int64_t, std::int64_t) {
      if (phase == "fit normalisation") most = std::max(most, n_threads());
    };
    Normalizer::fit(table, by(Normalization::interquartile), run);
    EXPECT_EQ(most - before, limited ? 0 : 3);
  }
}

TEST(Normalizer, WhatDoesNotFitGoesToAFile) {
  std::vector<double> v(100), w(100);
  for (std::size_t i = 0; i < 100; ++i) v[i] = static_cast<double>(i), w[i] = static_cast<double>(i * i % 17);
  const Table table = table_of({make_numeric("v", v), make_numeric("w", w)});
  const Table want = Normalizer::fit(table, by(Normalization::z)).apply(table);
  for (const std::int64_t limit : {3200, 3199, 799, 1}) {  // 1,600 bytes of result, 800 to fit a column
    RunOptions run;
    run.memory_limit = limit;
    const Table result = Normalizer::fit(table, by(Normalization::z), run).apply(table, run);
    EXPECT_EQ(result.bytes_in_memory(), limit == 3200 ? 1600 : 0);
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::int64_t i = 0; i < 100; ++i) ASSERT_EQ(result.columns[c].at(i), want.columns[c].at(i));
    }
  }
}

TEST(Normalizer, AFailedAllocationIsACleanError) {
  const Table table = table_of({make_numeric("v", {1.0, 2.0}), make_numeric("w", {1.0, 2.0})});
  RunOptions run;
  run.threads = 1;
  // The fit takes one scratch column, the application two new columns.
  for (int n = 1; n <= 3; ++n) {
    fault::arm_alloc(n);
    try {
      Normalizer::fit(table, by(Normalization::z), run).apply(table, run);
      FAIL() << "allocation " << n << " did not fail";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    }
    fault::arm_alloc(0);
  }
}

TEST(NormalizationNames, AreStopesOrRapidMiners) {
  for (const Normalization method : {Normalization::none, Normalization::range, Normalization::z,
                                     Normalization::proportion, Normalization::interquartile}) {
    EXPECT_EQ(normalization(to_string(method)), method);
  }
  EXPECT_EQ(to_string(Normalization::interquartile), "interquartile");
  EXPECT_EQ(normalization("Z-transformation"), Normalization::z);
  EXPECT_EQ(normalization("range transformation"), Normalization::range);
  EXPECT_EQ(normalization("proportion transformation"), Normalization::proportion);
  EXPECT_EQ(normalization("interquartile range"), Normalization::interquartile);
  expect_error(ErrorCode::invalid_argument,
               "unknown normalisation 'rang': none, range, z, proportion or interquartile (did you mean 'range'?)",
               [] { normalization("rang"); });
}

}  // namespace
}  // namespace stope
