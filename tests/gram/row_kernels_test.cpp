// Compares the loops over rows with the plainest ones: the same bits on every instruction set, for rows and columns
// that do not fill registers. Summaries of rows have the bits of those of columns.
#include "gram/row_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "gram/row_summaries.hpp"

namespace stope::gram {
namespace {

template <class T>
T draw(Random& random) {
  switch (random.below(8)) {
    case 0: return static_cast<T>(-0.0);
    case 1: return static_cast<T>(std::ldexp(random.uniform(), 60));
    case 2: return static_cast<T>(std::ldexp(random.uniform(), -60));
    default: return static_cast<T>(2 * random.uniform() - 1);
  }
}

// Rows with room behind each but the last: nothing behind that one may be read. (The address sanitizer watches.)
template <class T>
struct Rows {
  std::int64_t n_rows, n_columns, stride;
  std::vector<T> values;

  Rows(std::int64_t n, std::int64_t p, std::uint64_t seed) : n_rows(n), n_columns(p), stride(p + 3) {
    Random random(seed);
    values.resize(static_cast<std::size_t>((n - 1) * stride + p));
    for (T& v : values) v = draw<T>(random);
  }
  double at(std::int64_t r, std::int64_t c) const {
    return static_cast<double>(values[static_cast<std::size_t>(r * stride + c)]);
  }
  RowBlock<T> block() const { return {values.data(), stride, n_rows, n_columns}; }
};

std::vector<const RowKernels*> kernels() {
  const RowKernels* known[3] = {};
  const int n = all_row_kernels(known);
  return {known, known + n};
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

constexpr double kUntouched = 9.5;

template <class T>
void check_copies(std::int64_t n, std::int64_t p) {
  const Rows<T> rows(n, p, static_cast<std::uint64_t>(100 * n + p));
  std::vector<double> minus, times;
  for (std::int64_t c = 0; c < p; ++c) {
    minus.push_back(0.1 * static_cast<double>(c) - 0.3);
    times.push_back(c % 3 == 0 ? 1.0 : 1.0 / (3.0 + static_cast<double>(c)));
  }
  const Moves moves{minus.data(), times.data()};
  const std::int64_t stride = p + 2, turned = n + 1, n_tiles = (p + 15) / 16, tile = n * 16 + 5;
  std::vector<double> by_rows(static_cast<std::size_t>(n * stride), kUntouched);
  std::vector<double> by_columns(static_cast<std::size_t>(p * turned), kUntouched), plain = by_columns;
  std::vector<double> tiles(static_cast<std::size_t>(n_tiles * tile), kUntouched);
  for (std::int64_t r = 0; r < n; ++r) {
    for (std::int64_t c = 0; c < n_tiles * 16; ++c)
      tiles[static_cast<std::size_t>(c / 16 * tile + r * 16 + c % 16)] = 0.0;
    for (std::int64_t c = 0; c < p; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double value = (rows.at(r, c) - minus[at]) * times[at];
      by_rows[static_cast<std::size_t>(r * stride + c)] = value;
      by_columns[static_cast<std::size_t>(c * turned + r)] = value;
      plain[static_cast<std::size_t>(c * turned + r)] = rows.at(r, c);
      tiles[static_cast<std::size_t>(c / 16 * tile + r * 16 + c % 16)] = value;
    }
  }
  for (const RowKernels* level : kernels()) {
    const RowKernelsOf<T>& by = level->of<T>();
    std::vector<double> got(by_rows.size(), kUntouched);
    by.by_rows(rows.block(), moves, got.data(), stride);
    EXPECT_TRUE(same_bits(got, by_rows)) << n << " x " << p;
    got.assign(by_columns.size(), kUntouched);
    by.by_columns(rows.block(), moves, got.data(), turned);
    EXPECT_TRUE(same_bits(got, by_columns)) << n << " x " << p;
    got.assign(plain.size(), kUntouched);
    by.turn(rows.block(), got.data(), turned);
    EXPECT_TRUE(same_bits(got, plain)) << n << " x " << p;
    got.assign(tiles.size(), kUntouched);
    by.tiles(rows.block(), moves, got.data(), tile);
    EXPECT_TRUE(same_bits(got, tiles)) << n << " x " << p;
  }
}

template <class T>
void check_sums(std::int64_t n, std::int64_t p) {
  const Rows<T> rows(n, p, static_cast<std::uint64_t>(7 * n + p));
  std::vector<double> sum(static_cast<std::size_t>(p), 0.25), low(sum.size(), 0.5), high(sum.size(), -0.5);
  std::vector<double> squares = sum, mean, half(sum.size(), 0.5), rest(sum.size(), 0.125);
  const std::vector<double> first_sum = sum, first_low = low, first_high = high;
  for (std::int64_t c = 0; c < p; ++c) mean.push_back(0.01 * static_cast<double>(c));
  for (std::int64_t r = 0; r < n; ++r) {
    for (std::int64_t c = 0; c < p; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const double v = rows.at(r, c), d = (v - mean[at]) * half[at] * rest[at];
      sum[at] += v;
      low[at] = v < low[at] ? v : low[at];
      high[at] = v > high[at] ? v : high[at];
      squares[at] += d * d;
    }
  }
  for (const RowKernels* level : kernels()) {
    std::vector<double> got_sum = first_sum, got_low = first_low, got_high = first_high, got_squares = first_sum;
    level->of<T>().sums(rows.block(), {got_sum.data(), got_low.data(), got_high.data()});
    level->of<T>().squares(rows.block(), {mean.data(), half.data(), rest.data()}, got_squares.data());
    EXPECT_TRUE(same_bits(got_sum, sum)) << n << " x " << p;
    EXPECT_TRUE(same_bits(got_low, low) && same_bits(got_high, high)) << n << " x " << p;
    EXPECT_TRUE(same_bits(got_squares, squares)) << n << " x " << p;
  }
}

TEST(RowKernels, CopyAndSumUpAsThePlainLoops) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 40}) {
    for (const std::int64_t p : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50}) {
      check_copies<float>(n, p);
      check_copies<double>(n, p);
      check_sums<float>(n, p);
      check_sums<double>(n, p);
    }
  }
}

template <class T>
void check_summaries(std::int64_t n, std::int64_t p) {
  Rows<T> rows(n, p, static_cast<std::uint64_t>(n + 3 * p));
  for (std::int64_t r = 0; r < n; ++r) rows.values[static_cast<std::size_t>(r * rows.stride)] = T{3};  // constant
  std::vector<Column> columns;
  for (std::int64_t c = 0; c < p; ++c) {
    Buffer<T> values(n);
    for (std::int64_t r = 0; r < n; ++r) values[r] = static_cast<T>(rows.at(r, c));
    columns.push_back(column_of("x" + std::to_string(c), values));
  }
  std::vector<const Column*> places;
  for (const Column& column : columns) places.push_back(&column);
  const ArrayView view{rows.values.data(), sizeof(T) == 4 ? ElementType::float32 : ElementType::float64, n, p,
                       rows.stride};
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const std::vector<double> no_weights;
    ColumnSummaries of_columns(places, n, no_weights, pool, {});
    of_columns.measure();
    const std::vector<ColumnSummary> wanted = of_columns.take();
    const auto got = summaries_of_rows(view, pool, {});
    ASSERT_TRUE(got.has_value());
    for (std::int64_t c = 0; c < p; ++c) {
      const ColumnSummary &a = (*got)[static_cast<std::size_t>(c)], &b = wanted[static_cast<std::size_t>(c)];
      ASSERT_EQ(a.n_present, b.n_present);
      ASSERT_EQ(a.low, b.low);
      ASSERT_EQ(a.high, b.high);
      ASSERT_EQ(a.mean, b.mean) << n << " x " << p << ", column " << c;
      ASSERT_EQ(a.length, b.length) << n << " x " << p << ", column " << c;
      ASSERT_EQ(a.deviation, b.deviation);
    }
  }
}

TEST(RowSummaries, HaveTheBitsOfColumns) {
  for (const auto& [n, p] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {2, 5}, {255, 3}, {256, 9}, {257, 17}, {4'096, 2}, {4'097, 8}, {13'000, 5}, {40, 1'100}}) {
    check_summaries<float>(n, p);
    check_summaries<double>(n, p);
  }
}

TEST(RowSummaries, AreNoneForValuesThatAreNotFinite) {
  ThreadPool pool(1);
  for (const double wrong : {std::nan(""), std::numeric_limits<double>::infinity(), -1.7e308}) {
    std::vector<double> values(40, 1.0);
    values[7] = values[15] = wrong;  // together they overflow
    EXPECT_FALSE(summaries_of_rows({values.data(), ElementType::float64, 5, 8, 8}, pool, {}).has_value());
  }
}

}  // namespace
}  // namespace stope::gram
