#include "io/sample_rows.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <vector>

#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

Table numbered(std::int64_t n) {
  std::vector<double> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  Table table;
  table.source = "t";
  table.n_rows = n;
  table.columns.push_back(make_numeric("x", std::move(numbers)));
  table.columns.push_back(
      make_nominal("c", std::vector<std::int32_t>(static_cast<std::size_t>(n), 1), Values({"a", "b"})));
  return table;
}

std::vector<double> rows_of(std::int64_t n, std::int64_t wanted, std::uint64_t seed) {
  const Table sample = sample_rows(numbered(n), wanted, seed, {});
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>(sample.n_rows));
  for (std::int64_t row = 0; row < sample.n_rows; ++row) rows.push_back(sample.columns[0].at(row));
  return rows;
}

TEST(SampleRows, KeepsSoManyRowsInTheirOrderAndAllValues) {
  for (const std::int64_t n : {1, 2, 63, 64, 65, 1000, 70'000}) {
    for (const std::int64_t wanted : {std::int64_t{1}, n / 2, n - 1}) {
      if (wanted < 1) continue;
      const std::vector<double> rows = rows_of(n, wanted, 5);
      ASSERT_EQ(std::ssize(rows), wanted) << n;
      for (std::size_t i = 1; i < rows.size(); ++i) ASSERT_LT(rows[i - 1], rows[i]);
    }
  }
  const Table sample = sample_rows(numbered(100), 3, 1, {});
  sample.validate();
  EXPECT_EQ(sample.source, "t");
  EXPECT_EQ(sample.columns[1].values.names(), (std::vector<std::string>{"a", "b"}));
}

TEST(SampleRows, ZeroAndMoreThanThereAreKeepAll) {
  for (const std::int64_t wanted : {0, 10, 11}) EXPECT_EQ(sample_rows(numbered(10), wanted, 1, {}).n_rows, 10);
  EXPECT_EQ(sample_rows(numbered(0), 5, 1, {}).n_rows, 0);
  expect_error(ErrorCode::invalid_argument, "sample is -1", [&] { sample_rows(numbered(10), -1, 1, {}); });
}

TEST(SampleRows, TheSeedDecides) {
  EXPECT_EQ(rows_of(1000, 10, 7), rows_of(1000, 10, 7));
  EXPECT_NE(rows_of(1000, 10, 7), rows_of(1000, 10, 8));
}

// 10 pairs of 5 rows: 2000 samples give each about 200 times, with a standard deviation of 13.
TEST(SampleRows, EachSetOfRowsIsEquallyLikely) {
  std::map<std::vector<double>, int> counts;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) ++counts[rows_of(5, 2, seed)];
  ASSERT_EQ(counts.size(), 10U);
  for (const auto& [rows, n] : counts) EXPECT_TRUE(n > 130 && n < 270) << n;
}

}  // namespace
}  // namespace stope::io
