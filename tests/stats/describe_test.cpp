// Compares the first pass with the oracle; only the values may change a bit of its result.
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "effort.hpp"
#include "expect_error.hpp"
#include "stats/stats_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace stats_cases;

// Sizes around the chains (32), the rows of chains (256 x 32 = 8192), the units of work (16 leaves), and powers of two
// times them.
const std::vector<std::int64_t> kSizes = {0, 1, 2, 31, 32, 33, 65, 96, 1000, 8191, 8192, 8193, 24577, 131073};

template <class T>
ColumnStatistics describe_one(const std::vector<T>& values, const RunOptions& run = {},
                              StatsOptions::Depth depth = StatsOptions::Depth::all) {
  StatsOptions options;
  options.depth = depth;
  return describe(ArrayView{values.data(), element_type<T>(), static_cast<std::int64_t>(values.size())}, options, run)
      .columns.at(0);
}

template <class T>
class OneColumn : public testing::Test {};
using Elements = testing::Types<float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(OneColumn, Elements);

TYPED_TEST(OneColumn, AgreesWithTheOracle) {
  std::int64_t number = 0;
  for (const std::string& kind : kinds()) {
    for (const std::int64_t n : kSizes) {
      if (!chosen(number++)) continue;
      SCOPED_TRACE(kind + ", " + std::to_string(n) + " rows");
      const auto values = column_of<TypeParam>(kind, n, 7 + static_cast<std::uint64_t>(n));
      expect_facts(describe_one(values), values);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TYPED_TEST(OneColumn, HasTheSameBitsOnEveryBackEndAndThreadCount) {
  const EveryThread every;
  std::int64_t number = 0;
  for (const std::string& kind : kinds()) {
    for (const std::int64_t n : kSizes) {
      if (!chosen(number++)) continue;
      SCOPED_TRACE(kind + ", " + std::to_string(n) + " rows");
      const auto values = column_of<TypeParam>(kind, n, 3);
      std::vector<std::uint64_t> expected, extremes;
      for (const std::string& backend : backends()) {
        const ForcedBackend forced(backend);
        for (const int threads : {1, 3}) {
          RunOptions run;
          run.threads = threads;
          const auto bits = bits_of(describe_one(values, run));
          if (expected.empty()) expected = bits;
          EXPECT_EQ(bits, expected) << backend << ", " << threads << " threads";
          const auto few = bits_of(describe_one(values, run, StatsOptions::Depth::extremes));
          EXPECT_TRUE(std::equal(few.begin(), few.begin() + 8, expected.begin())) << "extremes, " << backend;
        }
      }
      if (testing::Test::HasFailure()) return;
    }
  }
}

// Every column of a matrix gives the result that it gives alone, whatever the matrix's layout.
TYPED_TEST(OneColumn, HasTheSameBitsInEveryLayout) {
  const EveryThread every;
  static std::int64_t number = -1;  // goes on from type to type, with a gap: each has other shapes
  ++number;
  struct Shape {
    std::int64_t rows, columns, pad;
  };
  for (const Shape& shape : {Shape{0, 3, 0},
                             {1, 1, 0},
                             {5, 33, 1},
                             {8193, 1, 3},
                             {8200, 15, 0},
                             {16385, 16, 2},
                             {140000, 17, 0},
                             {33, 300, 7},
                             {9000, 2, 0}}) {
    if (!chosen(number++)) continue;
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns));
    std::vector<std::vector<TypeParam>> columns;
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      const std::string& kind = kinds()[static_cast<std::size_t>(c) % kinds().size()];
      columns.push_back(column_of<TypeParam>(kind, shape.rows, 11 + static_cast<std::uint64_t>(c)));
    }
    const std::int64_t row_stride = shape.columns + shape.pad, column_stride = shape.rows + shape.pad;
    std::vector<TypeParam> by_rows(static_cast<std::size_t>(row_stride * shape.rows));
    std::vector<TypeParam> by_columns(static_cast<std::size_t>(column_stride * shape.columns));
    std::vector<TypeParam> spread(static_cast<std::size_t>(3 * row_stride * shape.rows));
    for (std::int64_t c = 0; c < shape.columns; ++c) {
      for (std::int64_t r = 0; r < shape.rows; ++r) {
        const TypeParam x = columns[static_cast<std::size_t>(c)][static_cast<std::size_t>(r)];
        by_rows[static_cast<std::size_t>(r * row_stride + c)] = x;
        by_columns[static_cast<std::size_t>(c * column_stride + r)] = x;
        spread[static_cast<std::size_t>(3 * (r * row_stride + c))] = x;
      }
    }
    std::vector<TypeParam> upside_down(by_rows.size()), backwards(spread.rbegin(), spread.rend());
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      std::copy_n(by_rows.begin() + r * row_stride, row_stride, upside_down.end() - (r + 1) * row_stride);
    }
    const ElementType type = element_type<TypeParam>();
    const TypeParam* const last_row =
        shape.rows == 0 ? nullptr : &upside_down[upside_down.size() - static_cast<std::size_t>(row_stride)];
    const TypeParam* const last = shape.rows == 0 ? nullptr : &backwards.back();
    const ArrayView arrays[] = {{last_row, type, shape.rows, shape.columns, -row_stride, 1},
                                {last, type, shape.rows, shape.columns, -3 * row_stride, -3},
                                {by_rows.data(), type, shape.rows, shape.columns, row_stride, 1},
                                {by_columns.data(), type, shape.rows, shape.columns, 1, column_stride},
                                {spread.data(), type, shape.rows, shape.columns, 3 * row_stride, 3}};
    for (const std::string& backend : backends()) {
      const ForcedBackend forced(backend);
      std::vector<std::vector<std::uint64_t>> alone;
      for (const auto& column : columns) alone.push_back(bits_of(describe_one(column)));
      for (const ArrayView& array : arrays) {
        const Statistics statistics = describe(array);
        ASSERT_EQ(statistics.columns.size(), columns.size());
        for (std::size_t c = 0; c < columns.size(); ++c) {
          EXPECT_EQ(bits_of(statistics.columns[c]), alone[c]) << "column " << c << ", strides " << array.row_stride
                                                              << " and " << array.column_stride << ", " << backend;
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(Describe, CountsBooleansAsZeroAndOne) {
  for (const std::int64_t columns : {1, 70}) {
    const auto values = column_of<std::uint8_t>("uniform", 20000 * columns, 4);
    std::vector<std::uint8_t> booleans;
    for (const std::uint8_t x : values) booleans.push_back(x % 2);
    const Statistics s = describe(ArrayView{booleans.data(), ElementType::boolean, 20000, columns});
    const Statistics want = describe(ArrayView{booleans.data(), ElementType::uint8, 20000, columns});
    for (std::size_t c = 0; c < s.columns.size(); ++c) {
      EXPECT_EQ(s.columns[c].type, ValueType::integer);
      EXPECT_EQ(s.columns[c].integers->max, 1);
      EXPECT_EQ(*s.columns[c].integers->sum, 20000 - s.columns[c].zeros);
      EXPECT_EQ(bits_of(s.columns[c]), bits_of(want.columns[c]));
    }
  }
}

TEST(Describe, TakesSecondPassesOverEveryType) {
  StatsOptions options;
  options.histogram_bins = 4;
  options.distinct = StatsOptions::Distinct::count;
  const std::uint32_t wide[] = {0, 4'000'000'000, 4'000'000'000, 1};
  const ColumnStatistics s = describe(ArrayView{wide, ElementType::uint32, 4}, options).columns[0];
  EXPECT_EQ(s.distinct, 3);
  EXPECT_EQ(s.histogram->high, 4e9);
  EXPECT_EQ(s.histogram->counts, (std::vector<std::int64_t>{2, 0, 0, 2}));
  const std::int8_t narrow[] = {-128, 127, 0, -1};
  const ColumnStatistics backwards = describe(ArrayView{narrow + 3, ElementType::int8, 4, 1, -1}, options).columns[0];
  EXPECT_EQ(backwards.distinct, 4);
  EXPECT_EQ(backwards.min_row, 3);
  EXPECT_EQ(backwards.histogram->counts, (std::vector<std::int64_t>{1, 1, 1, 1}));
}

TEST(Describe, SumsIntegersExactly) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const ColumnStatistics balanced = describe_one(std::vector<std::int64_t>{most, least, most, least, 5});
  ASSERT_TRUE(balanced.integers && balanced.integers->sum);
  EXPECT_EQ(*balanced.integers->sum, 3);
  EXPECT_EQ(balanced.sum, 3.0);
  EXPECT_EQ(balanced.integers->min, least);
  EXPECT_EQ(balanced.integers->max, most);
  const ColumnStatistics large = describe_one(std::vector<std::int64_t>(100000, most));
  EXPECT_FALSE(large.integers->sum.has_value());
  EXPECT_EQ(large.sum, 100000 * 0x1p63);  // 100000 (2^63 - 1), rounded once
  EXPECT_EQ(describe_one(std::vector<std::int64_t>(3, least)).sum, -3 * 0x1p63);
  // 2^53 + 1 is no double: the tie goes to even, and only a bit beyond it decides otherwise.
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  EXPECT_EQ(describe_one(std::vector<std::int64_t>{odd}).sum, 0x1p53);
  EXPECT_EQ(describe_one(std::vector<std::int64_t>{most, most, most, 0x1003}).sum, 3 * 0x1p63 + 0x1000);
  // These values are apart by less than a double can tell at their size.
  const ColumnStatistics near = describe_one(std::vector<std::int64_t>{most, most - 1, most - 2});
  EXPECT_EQ(near.variance, 1.0);
  EXPECT_DOUBLE_EQ(describe_one(std::vector<std::int64_t>{least, most}).deviation, 0x1p64 / std::sqrt(2.0));
}

TEST(Describe, KeepsTheFirstOfEqualValuesAndItsSign) {
  const double nan = std::nan("");
  const ColumnStatistics zeros = describe_one(std::vector<double>{nan, 0.0, -0.0, nan});
  EXPECT_EQ(zeros.min_row, 1);
  EXPECT_EQ(zeros.max_row, 1);
  EXPECT_FALSE(std::signbit(zeros.min));
  const ColumnStatistics other = describe_one(std::vector<float>{1.0F, -0.0F, 0.0F});
  EXPECT_EQ(other.min_row, 1);
  EXPECT_TRUE(std::signbit(other.min));
  EXPECT_EQ(other.zeros, 2);
  std::vector<double> late(200000, 3.0);
  late[150001] = late[199999] = 2.0;
  EXPECT_EQ(describe_one(late).min_row, 150001);
  EXPECT_EQ(describe_one(late).max_row, 0);
}

TEST(Describe, AConstantColumnHasNoVariance) {
  for (const std::int64_t n : {2, 100, 8193, 500000}) {
    const ColumnStatistics s = describe_one(std::vector<double>(static_cast<std::size_t>(n), 0.1));
    EXPECT_EQ(s.variance, 0.0);
    EXPECT_EQ(s.deviation, 0.0);
    EXPECT_TRUE(std::isnan(s.skewness));
  }
}

// The bound allows much. The error for friendly data is far smaller, and an offset costs nothing.
TEST(Describe, LosesNothingToAnOffset) {
  const auto plain = column_of<double>("ties", 100000, 5);
  auto moved = plain;
  for (double& x : moved) x += 1e15;
  const ColumnStatistics a = describe_one(plain), b = describe_one(moved);
  EXPECT_EQ(a.variance, b.variance);
  EXPECT_EQ(a.skewness, b.skewness);
  const auto facts = oracle::facts_of(plain);
  EXPECT_NEAR(a.variance, static_cast<double>(facts.m2 / 99999), 1e-14);
}

TEST(Describe, FindsDeviationsWhoseSquaresAreNoDoubles) {
  const ColumnStatistics huge = describe_one(std::vector<double>{0x1p600, 0.0, -0x1p600});
  EXPECT_EQ(huge.deviation, 0x1p600);
  EXPECT_TRUE(std::isinf(huge.variance));
  EXPECT_EQ(huge.skewness, 0.0);
  const ColumnStatistics tiny = describe_one(std::vector<double>{0x1p-600, 0.0, -0x1p-600});
  EXPECT_EQ(tiny.deviation, 0x1p-600);
  const double most = std::numeric_limits<double>::max();
  const ColumnStatistics widest = describe_one(std::vector<double>{most, -most, most, most});
  EXPECT_EQ(widest.mean, most / 2);
  EXPECT_DOUBLE_EQ(widest.deviation, most);
  EXPECT_TRUE(std::isinf(widest.sum));
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(describe_one(std::vector<double>{least, -least, 0.0}).deviation, least);
}

// The upper 64 bits of these sums lie halfway between two doubles, and only the bits below them tell the way.
TEST(Describe, SumsOf128BitsAreRoundedOnce) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();  // four of them: 2^65 - 4
  for (const auto& [beyond, sum] : std::vector<std::pair<std::int64_t, double>>{
           {4096, 0x1p65}, {4097, 0x1p65 + 8192}, {4095, 0x1p65}, {12288, 0x1p65 + 16384}, {12287, 0x1p65 + 8192}}) {
    SCOPED_TRACE(beyond);
    EXPECT_EQ(describe_one(std::vector<std::int64_t>{most, most, most, most, beyond + 4}).sum, sum);
    EXPECT_EQ(describe_one(std::vector<std::int64_t>{-most, -most, -most, -most, -beyond - 4}).sum, -sum);
  }
}

TEST(Describe, RefusesArraysThatCannotBe) {
  const double x = 0.0;
  for (const ArrayView& array : {ArrayView{&x, ElementType::float64, -1}, ArrayView{&x, ElementType::float64, 1, -1},
                                 ArrayView{nullptr, ElementType::float64, 1}}) {
    expect_error(ErrorCode::invalid_argument, "the array ", [&] { describe(array); });
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  expect_error(ErrorCode::out_of_memory, "exceeds the address space",
               [&] { describe(ArrayView{&x, ElementType::float64, most, most}); });
  StatsOptions options;
  options.by = "class";
  expect_error(ErrorCode::invalid_argument, "an array has no column 'class'",
               [&] { describe(ArrayView{&x, ElementType::float64, 1}, options); });
}

// Starting threads takes longer than processing a thousand values.
TEST(Describe, FewValuesStartNoThread) {
  const std::vector<double> values(2'000'000, 1.0);
  StatsOptions options;
  options.histogram_bins = 4;
  RunOptions run;
  run.threads = 3;
  const auto threads = [&](std::int64_t n, const StatsOptions& asked) {
    return describe(ArrayView{values.data(), ElementType::float64, n}, asked, run).report.threads;
  };
  EXPECT_EQ(threads(1'000, {}), 1);
  EXPECT_EQ(threads(1'000, options), 1);
  EXPECT_EQ(threads(100'000, {}), 1);
  EXPECT_EQ(threads(100'000, options), 3) << "a histogram takes longer";
  EXPECT_EQ(threads(2'000'000, {}), 3);
}

TEST(Describe, StopsWhenItIsCancelled) {
  RunOptions run;
  run.cancel.cancel();
  const std::vector<double> values(10, 1.0);
  try {
    describe_one(values, run);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace stope
