// Compares the loops over columns with the plainest ones: the same bits on every instruction set, for columns and rows
// that do not fill registers, missing values, zeros of both signs, huge and tiny numbers.
#include "gram/column_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "base/row_sums.hpp"
#include "gram/column_summaries.hpp"

namespace stope::gram {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class T>
T draw(Random& random) {
  switch (random.below(12)) {
    case 0: return static_cast<T>(kNaN);
    case 1: return static_cast<T>(-0.0);
    case 2: return static_cast<T>(1e6);
    case 3: return static_cast<T>(std::ldexp(random.uniform(), 120));
    case 4: return static_cast<T>(std::ldexp(random.uniform(), -140));
    default: return static_cast<T>(2 * random.uniform() - 1);
  }
}

// Columns end where their memory ends: nothing behind them may be read. (The address sanitizer watches.)
template <class T>
std::vector<std::vector<T>> draw_columns(std::int64_t n, std::int64_t n_rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<T>> columns(static_cast<std::size_t>(n));
  for (auto& column : columns) {
    for (std::int64_t row = 0; row < n_rows; ++row) column.push_back(draw<T>(random));
  }
  return columns;
}

std::vector<const ColumnKernels*> kernels() {
  const ColumnKernels* known[3] = {};
  const int n = all_column_kernels(known);
  return {known, known + n};
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

struct Moved {
  std::vector<double> minus, times, missing, factors;

  Moved(std::int64_t n, std::int64_t n_rows) {
    for (std::int64_t c = 0; c < n; ++c) {
      minus.push_back(0.1 * static_cast<double>(c) - 0.3);
      times.push_back(c % 3 == 0 ? 1.0 : 1.0 / (3.0 + static_cast<double>(c)));
      missing.push_back(0.7 * static_cast<double>(c));
    }
    for (std::int64_t r = 0; r < n_rows; ++r) factors.push_back(std::sqrt(static_cast<double>(r % 7)));
  }
  Terms terms() const { return {minus.data(), times.data(), missing.data()}; }
  template <class T>
  double of(const std::vector<std::vector<T>>& columns, std::int64_t c, std::int64_t row, bool weighted) const {
    const auto at = static_cast<std::size_t>(c), r = static_cast<std::size_t>(row);
    const double moved = (static_cast<double>(columns[at][r]) - minus[at]) * times[at];
    const double value = moved == moved ? moved : missing[at];
    return weighted ? value * factors[r] : value;
  }
};

template <class T>
void check_copies(std::int64_t n, std::int64_t begin, std::int64_t end, bool weighted) {
  const auto columns = draw_columns<T>(n, end, static_cast<std::uint64_t>(n * 1000 + end));
  std::vector<const T*> pointers;
  pointers.reserve(columns.size());
  for (const auto& column : columns) pointers.push_back(column.data());
  const Moved moved(n, end);
  const std::int64_t n_rows = end - begin, stride = n + 2, row_stride = n_rows + 1;
  std::vector<double> rows(static_cast<std::size_t>(n_rows * stride), 9.5);
  std::vector<double> across(static_cast<std::size_t>(n * row_stride), 9.5);
  std::vector<double> sums(static_cast<std::size_t>(n_rows), 0.25);
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::int64_t c = 0; c < n; ++c) {
      const double value = moved.of(columns, c, row, weighted);
      rows[static_cast<std::size_t>((row - begin) * stride + c)] = value;
      across[static_cast<std::size_t>(c * row_stride + row - begin)] = value;
      double& sum = sums[static_cast<std::size_t>(row - begin)];
      sum = std::fma(moved.of(columns, c, row, false), moved.times[static_cast<std::size_t>(c)], sum);
    }
  }
  for (const ColumnKernels* kernels : kernels()) {
    const ColumnKernelsOf<T>& by = kernels->of<T>();
    const double* const factors = weighted ? moved.factors.data() : nullptr;
    std::vector<double> got(rows.size(), 9.5);
    by.by_rows(pointers.data(), n, begin, end, moved.terms(), factors, got.data(), stride);
    EXPECT_TRUE(same_bits(got, rows)) << n << " columns, rows " << begin << " to " << end;
    got.assign(across.size(), 9.5);
    by.by_columns(pointers.data(), n, begin, end, moved.terms(), factors, got.data(), row_stride);
    EXPECT_TRUE(same_bits(got, across)) << n << " columns, rows " << begin << " to " << end;
    got.assign(sums.size(), 0.25);
    by.add_products(pointers.data(), n, begin, end, moved.terms(), moved.times.data(), got.data());
    EXPECT_TRUE(same_bits(got, sums)) << n << " columns, rows " << begin << " to " << end;
  }
}

TEST(ColumnKernels, CopyAndMultiplyAsThePlainLoops) {
  for (const std::int64_t n : {1, 2, 3, 7, 8, 9, 15, 16}) {
    for (const std::int64_t n_rows : {1, 2, 3, 4, 7, 8, 9, 16, 31, 33, 70}) {
      for (const std::int64_t begin : {0, 5}) {
        for (const bool weighted : {false, true}) {
          check_copies<float>(n, begin, begin + n_rows, weighted);
          check_copies<double>(n, begin, begin + n_rows, weighted);
        }
      }
    }
  }
}

// The summary by its definition (base/row_sums.hpp).
template <class T>
ColumnSummary defined(const std::vector<T>& values, const std::vector<double>& weights) {
  ColumnSummary summary;
  const auto n = std::ssize(values);
  const auto value = [&](std::int64_t row) { return static_cast<double>(values[static_cast<std::size_t>(row)]); };
  const auto weight = [&](std::int64_t row) {
    return std::isnan(value(row)) ? 0.0 : weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
  };
  for (std::int64_t row = 0; row < n; ++row) {
    if (weight(row) == 0.0) continue;
    ++summary.n_present;
    summary.low = std::min(summary.low, value(row));
    summary.high = std::max(summary.high, value(row));
  }
  if (summary.n_present == 0) return summary;
  if (summary.low == summary.high) {
    summary.mean = summary.low + 0.0;
    return summary;
  }
  const double sum = sum_over_rows(0, n, [&](std::int64_t r) { return weight(r) == 0.0 ? 0.0 : weight(r) * value(r); });
  summary.mean = sum / sum_over_rows(0, n, weight);
  summary.deviation = std::max(summary.high - summary.mean, summary.mean - summary.low);
  int exponent = 0;
  std::frexp(summary.deviation, &exponent);
  const double half = std::ldexp(1.0, -exponent / 2), rest = std::ldexp(1.0, -exponent - -exponent / 2);
  const double squares = sum_over_rows(0, n, [&](std::int64_t r) {
    const double d = (value(r) - summary.mean) * half * rest;
    return weight(r) == 0.0 ? 0.0 : weight(r) * (d * d);
  });
  summary.length = std::ldexp(std::sqrt(squares), exponent);
  return summary;
}

template <class T>
Column column_of(const std::vector<T>& values) {
  Column column;
  Buffer<T> buffer(std::ssize(values));
  std::copy(values.begin(), values.end(), buffer.begin());
  column.data = std::move(buffer);
  return column;
}

void expect_equal(const ColumnSummary& got, const ColumnSummary& wanted, const std::string& what) {
  EXPECT_EQ(got.n_present, wanted.n_present) << what;
  EXPECT_EQ(got.low, wanted.low) << what;
  EXPECT_EQ(got.high, wanted.high) << what;
  EXPECT_EQ(got.mean, wanted.mean) << what;
  EXPECT_EQ(got.length, wanted.length) << what;
  EXPECT_EQ(got.deviation, wanted.deviation) << what;
}

// Rows around leaves and groups; types in turn, so that neighbours cannot be summed up together.
TEST(ColumnSummaries, AreTheirDefinition) {
  for (const std::int64_t n_rows : {1, 2, 255, 256, 257, 600, 2048, 4095, 4096, 4097, 9000, 300'001}) {
    const std::int64_t n_columns = n_rows > 10'000 ? 3 : 21;
    for (const bool weighted : {false, true}) {
      std::vector<double> weights;
      for (std::int64_t row = 0; weighted && row < n_rows; ++row) weights.push_back(0.5 * static_cast<double>(row % 4));
      auto doubles = draw_columns<double>(n_columns, n_rows, static_cast<std::uint64_t>(n_rows));
      auto floats = draw_columns<float>(n_columns, n_rows, static_cast<std::uint64_t>(n_rows) + 1);
      doubles[0].assign(doubles[0].size(), 0.1);
      floats[1].assign(floats[1].size(), static_cast<float>(kNaN));
      std::vector<Column> owned;
      std::vector<ColumnSummary> wanted;
      for (std::size_t j = 0; j < doubles.size(); ++j) {
        if (j % 5 == 3) {
          owned.push_back(column_of(floats[j]));
          wanted.push_back(defined(floats[j], weights));
        }
        owned.push_back(column_of(doubles[j]));
        wanted.push_back(defined(doubles[j], weights));
      }
      owned.push_back(column_of(floats[1]));
      wanted.push_back(defined(floats[1], weights));
      std::vector<const Column*> columns;
      columns.reserve(owned.size());
      for (const Column& column : owned) columns.push_back(&column);
      for (const int threads : {1, 3}) {
        ThreadPool pool(threads);
        ColumnSummaries summaries(columns, n_rows, weights, pool, {});
        summaries.measure();
        const std::vector<ColumnSummary> got = summaries.take();
        for (std::size_t j = 0; j < got.size(); ++j) {
          expect_equal(got[j], wanted[j],
                       std::to_string(n_rows) + " rows, column " + std::to_string(j) + (weighted ? ", weighted" : ""));
        }
      }
    }
  }
}

}  // namespace
}  // namespace stope::gram
