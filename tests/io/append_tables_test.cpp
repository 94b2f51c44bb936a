#include "io/append_tables.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stope/error.hpp"

namespace stope::io {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Table table_of(const std::string& source, std::vector<Column> columns) {
  Table table;
  table.source = source;
  table.n_rows = columns.front().size();
  table.columns = std::move(columns);
  return table;
}

Table append(std::vector<Table> tables, MixedTypes mixed = MixedTypes::error,
             NominalOrder order = NominalOrder::sorted) {
  ReadOptions options;
  options.nominal_order = order;
  Table table = append_tables(std::move(tables), "all", mixed, options, {});
  table.validate();
  return table;
}

std::string text_at(const Column& column, std::int64_t row) {
  const std::int32_t code = column.codes()[row];
  return code < 0 ? "?" : column.values[static_cast<std::size_t>(code)];
}

std::vector<Table> two(Column first, Column second) {
  std::vector<Table> tables;
  tables.reserve(2);
  tables.push_back(table_of("one", {std::move(first)}));
  tables.push_back(table_of("two", {std::move(second)}));
  return tables;
}

std::string refusal(std::vector<Table> tables, MixedTypes mixed = MixedTypes::error) {
  try {
    append(std::move(tables), mixed);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data);
    return error.what();
  }
  return "";
}

TEST(AppendTables, NumbersKeepTheirBits) {
  const double inf = std::numeric_limits<double>::infinity();
  const Table all = append(two(make_numeric("x", {1, -0.0, kNan, inf}), make_numeric("x", {5e-324, -inf, 1e300})));
  ASSERT_EQ(all.n_rows, 7);
  EXPECT_EQ(all.source, "all");
  const Column& x = all.columns[0];
  EXPECT_TRUE(std::signbit(x.at(1)) && std::isnan(x.at(2)));
  EXPECT_EQ(x.at(3), inf);
  EXPECT_EQ(x.at(4), 5e-324);
  EXPECT_EQ(x.at(6), 1e300);
}

TEST(AppendTables, FloatsStayFloatsOnlyIfAllAre) {
  Column narrow{"x", ValueType::real, Role::regular, Buffer<float>(2), {}};
  std::get<Buffer<float>>(narrow.data)[1] = 0.5F;
  EXPECT_TRUE(std::holds_alternative<Buffer<float>>(append(two(narrow, narrow)).columns[0].data));
  const Table mixed = append(two(narrow, make_numeric("x", {0.1})));
  EXPECT_TRUE(std::holds_alternative<Buffer<double>>(mixed.columns[0].data));
  EXPECT_EQ(mixed.columns[0].at(1), 0.5);
  EXPECT_EQ(mixed.columns[0].at(2), 0.1);
}

TEST(AppendTables, WholeNumbersBelowNumbersBecomeNumbers) {
  EXPECT_EQ(append(two(make_numeric("x", {1}, ValueType::integer), make_numeric("x", {2.5}))).columns[0].type,
            ValueType::real);
  EXPECT_EQ(append(two(make_numeric("x", {1}, ValueType::integer), make_numeric("x", {2}, ValueType::integer)))
                .columns[0]
                .type,
            ValueType::integer);
}

TEST(AppendTables, SortedListsAreMergedInOrderAndOthersGoOn) {
  const auto parts = [] {
    return two(make_nominal("c", {0, 1, kMissingCode}, Values({"b", "d"})),
               make_nominal("c", {0, 1}, Values({"a", "d"})));
  };
  const Table sorted = append(parts());
  EXPECT_EQ(sorted.columns[0].values.names(), (std::vector<std::string>{"a", "b", "d"}));
  EXPECT_EQ(text_at(sorted.columns[0], 0) + text_at(sorted.columns[0], 2) + text_at(sorted.columns[0], 3), "b?a");
  const Table appeared = append(parts(), MixedTypes::error, NominalOrder::appearance);
  EXPECT_EQ(appeared.columns[0].values.names(), (std::vector<std::string>{"b", "d", "a"}));
  EXPECT_EQ(text_at(appeared.columns[0], 4), "d");
  const Table unsorted = append(two(make_nominal("c", {0}, Values({"z", "b"})), make_nominal("c", {0}, Values({"a"}))));
  EXPECT_EQ(unsorted.columns[0].values.names(), (std::vector<std::string>{"z", "b", "a"}));
}

TEST(AppendTables, MoreThanTwoValuesAreNotBinominal) {
  const auto of = [](std::vector<std::string> names) {
    Column column = make_nominal("c", {0, 1}, Values(std::move(names)));
    column.type = ValueType::binominal;
    return column;
  };
  EXPECT_EQ(append(two(of({"n", "y"}), of({"n", "y"}))).columns[0].type, ValueType::binominal);
  EXPECT_EQ(append(two(of({"n", "y"}), of({"m", "y"}))).columns[0].type, ValueType::polynominal);
}

TEST(AppendTables, AColumnWithoutValuesFitsAnyType) {
  const Table words = append(two(make_numeric("c", {kNan, kNan}), make_nominal("c", {0}, Values({"a"}))));
  EXPECT_TRUE(words.columns[0].nominal() && words.columns[0].missing(1));
  const Table numbers = append(two(make_nominal("c", {kMissingCode}, Values()), make_numeric("c", {3})));
  EXPECT_FALSE(numbers.columns[0].nominal());
  EXPECT_EQ(numbers.columns[0].at(1), 3);
  EXPECT_EQ(append(two(make_numeric("c", {kNan}), make_numeric("c", {7}, ValueType::date))).columns[0].at(1), 7);
}

TEST(AppendTables, OtherTypesAreRefusedOrSpelled) {
  const auto parts = [] { return two(make_numeric("c", {1, 2.5}), make_nominal("c", {0}, Values({"a"}))); };
  EXPECT_EQ(refusal(parts()), "two: column 'c' is polynominal, in 'one' it is real");
  const Table spelled = append(parts(), MixedTypes::nominal);
  EXPECT_EQ(text_at(spelled.columns[0], 1) + text_at(spelled.columns[0], 2), "2.5a");
  const auto dates = two(make_numeric("c", {1}, ValueType::date), make_numeric("c", {1}));
  EXPECT_NE(refusal(dates, MixedTypes::nominal).find("column 'c' is real, in 'one' it is date"), std::string::npos);
}

TEST(AppendTables, OtherColumnsAreRefusedWithBothFiles) {
  EXPECT_EQ(
      refusal(two(make_numeric("x", {1}), make_numeric("y", {1}))),
      "two: its column 1 is 'y', that of the first part is 'x': all parts need the same columns in the same order");
  std::vector<Table> tables = two(make_numeric("x", {1}), make_numeric("x", {1}));
  tables[1].columns.push_back(make_numeric("y", {1}));
  EXPECT_EQ(refusal(std::move(tables)), "two: has 2 columns, and 'one' 1");
}

}  // namespace
}  // namespace stope::io
