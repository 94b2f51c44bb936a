// Column and Table: values, missing, lookup, taking rows, validation.
#include "stope/table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "stope/error.hpp"

namespace stope {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

void expect_invalid(const std::function<void()>& act, const std::string& message) {
  try {
    act();
    FAIL() << "no exception, expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.what(), message);
  }
}

Column float_column(const std::string& name, const std::vector<float>& values) {
  Buffer<float> buffer(static_cast<std::int64_t>(values.size()));
  std::copy(values.begin(), values.end(), buffer.begin());
  return {name, ValueType::real, Role::regular, std::move(buffer), {}};
}

Table small_table() {
  Table table;
  table.n_rows = 3;
  table.source = "small.csv";
  table.columns = {make_numeric("a", {1.5, kNaN, -0.0}), float_column("f", {0.1F, 2.0F, std::nanf("")}),
                   make_nominal("colour", {1, kMissingCode, 0}, {"red", "blue"}),
                   make_nominal("class", {0, 0, 1}, {"no", "yes"}, ValueType::binominal)};
  table.columns[3].role = Role::label;
  return table;
}

TEST(Column, GivesValuesAsDoubles) {
  const Table table = small_table();
  EXPECT_EQ(table.columns[0].at(0), 1.5);
  EXPECT_TRUE(std::isnan(table.columns[0].at(1)));
  EXPECT_TRUE(std::signbit(table.columns[0].at(2)));
  EXPECT_EQ(table.columns[1].at(0), static_cast<double>(0.1F));
  EXPECT_EQ(table.columns[2].at(0), 1.0);
  EXPECT_TRUE(std::isnan(table.columns[2].at(1)));
}

TEST(Column, SharesTheBufferFromWhichItIsMade) {
  const Buffer<double> doubles(3);
  EXPECT_EQ(std::get<Buffer<double>>(column_of("d", doubles).data).data(), doubles.data());
  Buffer<std::int32_t> codes(2);
  codes[0] = 1;
  codes[1] = kMissingCode;
  EXPECT_EQ(column_of("n", codes, {"x", "y"}).codes().data(), codes.data());
  expect_invalid([&] { column_of("n", codes, {"x"}); }, "column 'n', row 0: code 1 is outside its 1 values");
}

TEST(Column, MissingIsNaNOrTheMissingCodeButNotTheUnseenOne) {
  Table table = small_table();
  for (int c = 0; c < 3; ++c) {
    const std::int64_t missing_row = c == 1 ? 2 : 1;
    for (std::int64_t row = 0; row < 3; ++row) {
      EXPECT_EQ(table.columns[static_cast<std::size_t>(c)].missing(row), row == missing_row) << c << ", " << row;
    }
  }
  std::get<Buffer<std::int32_t>>(table.columns[2].data)[0] = kUnseenCode;
  EXPECT_FALSE(table.columns[2].missing(0));
  EXPECT_EQ(table.columns[2].at(0), kUnseenCode);
}

TEST(Column, NominalFollowsTheType) {
  for (const ValueType type : {ValueType::real, ValueType::integer, ValueType::date}) EXPECT_FALSE(is_nominal(type));
  for (const ValueType type : {ValueType::nominal, ValueType::polynominal, ValueType::binominal}) {
    EXPECT_TRUE(is_nominal(type));
  }
  EXPECT_TRUE(small_table().columns[2].nominal());
  EXPECT_FALSE(small_table().columns[1].nominal());
}

TEST(Column, NamesOfTypesAndRolesAreTheSchemas) {
  EXPECT_EQ(to_string(ValueType::real), "real");
  EXPECT_EQ(to_string(ValueType::integer), "integer");
  EXPECT_EQ(to_string(ValueType::date), "date");
  EXPECT_EQ(to_string(ValueType::nominal), "nominal");
  EXPECT_EQ(to_string(ValueType::polynominal), "polynominal");
  EXPECT_EQ(to_string(ValueType::binominal), "binominal");
  EXPECT_EQ(to_string(Role::regular), "regular");
  EXPECT_EQ(to_string(Role::label), "label");
  EXPECT_EQ(to_string(Role::id), "id");
  EXPECT_EQ(to_string(Role::weight), "weight");
  EXPECT_EQ(to_string(Role::ignore), "ignore");
}

TEST(MakeNominal, RefusesCodesOutsideTheValues) {
  EXPECT_NO_THROW(make_nominal("c", {}, {}));
  expect_invalid([] { make_nominal("c", {0, 2}, {"x", "y"}); }, "column 'c', row 1: code 2 is outside its 2 values");
  expect_invalid([] { make_nominal("c", {kUnseenCode}, {"x"}); }, "column 'c', row 0: code -2 is outside its 1 values");
}

TEST(Table, FindsByNameAndRole) {
  const Table table = small_table();
  EXPECT_EQ(table.find("colour"), 2);
  EXPECT_EQ(table.find("Colour"), -1);
  EXPECT_EQ(table.find(Role::label), 3);
  EXPECT_EQ(table.find(Role::id), -1);
  EXPECT_EQ(table.find(Role::regular), 0);
  EXPECT_EQ(table.features(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(Table().features().empty());
}

TEST(Table, FindsByNameElseByNumber) {
  Table table = small_table();
  EXPECT_EQ(table.find("colour", "group"), 2);
  EXPECT_EQ(table.find("1", "group"), 0);
  EXPECT_EQ(table.find("4", "group"), 3);
  table.columns[3].name = "1";  // a name that exists wins
  EXPECT_EQ(table.find("1", "group"), 3);
  table.source = "t.csv";
  for (const char* bad : {"", "0", "5", "colours", "99999999999999999999", "-1", "1.0"}) {
    try {
      table.find(bad, "group");
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_data);
      EXPECT_EQ(error.option(), "group");
      EXPECT_EQ(error.file(), "t.csv");
      const bool near = std::string(error.what()).find("did you mean 'colour'") != std::string::npos;
      EXPECT_EQ(near, std::string(bad) == "colours") << error.what();
    }
  }
}

TEST(Table, LeavesAFeatureOut) {
  Table table = small_table();
  table.leave_out("colour");
  table.leave_out("no such column");
  EXPECT_EQ(table.features(), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(table.columns[2].role, Role::ignore);
  table.leave_out(table.columns[3].name);
  EXPECT_EQ(table.columns[3].role, Role::label);
}

TEST(TableTake, CopiesRowsInTheOrderGiven) {
  const Table table = small_table();
  const Table taken = table.take({2, 0, 2, 1});
  EXPECT_EQ(taken.n_rows, 4);
  EXPECT_EQ(taken.source, "small.csv (some of its rows)");
  EXPECT_NO_THROW(taken.validate());
  ASSERT_EQ(taken.columns.size(), table.columns.size());
  const std::vector<std::int64_t> rows = {2, 0, 2, 1};
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Column& from = table.columns[c];
    const Column& to = taken.columns[c];
    EXPECT_EQ(to.name, from.name);
    EXPECT_EQ(to.type, from.type);
    EXPECT_EQ(to.role, from.role);
    EXPECT_EQ(to.values, from.values);
    EXPECT_EQ(to.data.index(), from.data.index());
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t row = rows[static_cast<std::size_t>(i)];
      EXPECT_EQ(to.missing(i), from.missing(row));
      if (!from.missing(row)) {
        EXPECT_EQ(to.at(i), from.at(row));
        EXPECT_EQ(std::signbit(to.at(i)), std::signbit(from.at(row)));
      }
    }
  }
}

TEST(TableTake, OfNoRowsKeepsTheColumns) {
  const Table taken = small_table().take({});
  EXPECT_EQ(taken.n_rows, 0);
  EXPECT_EQ(taken.columns.size(), 4u);
  EXPECT_EQ(taken.columns[2].values.size(), 2u);
  EXPECT_NO_THROW(taken.validate());
}

TEST(TableTake, OfAllRowsEqualsTheTableAtEverySize) {
  for (const std::int64_t n : {1, 31, 32, 33, 1000}) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 0.5);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(n));
    std::iota(rows.begin(), rows.end(), 0);
    Table table;
    table.n_rows = n;
    table.columns = {make_numeric("v", values)};
    const Table taken = table.take(rows);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(taken.columns[0].at(i), table.columns[0].at(i));
  }
}

TEST(TableValidate, AcceptsWhatIsConsistent) {
  EXPECT_NO_THROW(Table().validate());
  EXPECT_NO_THROW(small_table().validate());
}

TEST(TableValidate, NamesWhatIsNot) {
  Table twice = small_table();
  twice.columns[1].name = "a";
  expect_invalid([&] { twice.validate(); }, "two columns are named 'a'");

  Table ragged = small_table();
  ragged.columns[0] = make_numeric("a", {1.0, 2.0});
  expect_invalid([&] { ragged.validate(); }, "column 'a': 2 rows, but the table has 3");

  Table mistyped = small_table();
  mistyped.columns[0].type = ValueType::nominal;
  expect_invalid([&] { mistyped.validate(); }, "column 'a': its type nominal does not fit its storage");
  mistyped = small_table();
  mistyped.columns[2].type = ValueType::integer;
  expect_invalid([&] { mistyped.validate(); }, "column 'colour': its type integer does not fit its storage");
  for (const std::int32_t code : {2, -2, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    Table stray = small_table();
    std::get<Buffer<std::int32_t>>(stray.columns[3].data)[1] = code;
    expect_invalid([&] { stray.validate(); },
                   "column 'class', row 1: code " + std::to_string(code) + " is outside its 2 values");
  }
}

TEST(TableBytes, CountsStorageAndValueNames) {
  Table table;
  table.n_rows = 3;
  table.columns = {make_numeric("a", {1, 2, 3}), float_column("f", {1, 2, 3})};
  EXPECT_EQ(table.bytes(), 3 * 8 + 3 * 4);
  table.columns.push_back(make_nominal("n", {0, 0, 0}, {"red"}));
  EXPECT_EQ(table.bytes(), 3 * 8 + 3 * 4 + 3 * 4 + 3 + static_cast<std::int64_t>(sizeof(std::string)));
}

}  // namespace
}  // namespace stope
