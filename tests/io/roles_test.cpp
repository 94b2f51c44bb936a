#include "io/roles.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

using Texts = std::vector<std::string>;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Table three_columns() {
  Table table;
  table.source = "t.npy";
  table.n_rows = 3;
  table.columns.push_back(make_numeric("1", {3, 1, 3}));
  table.columns.push_back(make_numeric("2", {0.5, kNaN, 10}));
  table.columns.push_back(make_nominal("3", {1, 0, -1}, {"7", "x"}));
  return table;
}

std::string error_of(const ReadOptions& options, const Schema* schema, Names kind, ErrorCode code) {
  Table table = three_columns();
  try {
    apply_roles(table, options, schema, kind, {}, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST(ColumnNames, NamesBeforeNumbers) {
  const ColumnNames names({"b", "1", "age"}, UnknownColumns::error, "f.csv");
  EXPECT_EQ(names.find("b", "target"), 0);
  EXPECT_EQ(names.find("1", "target"), 1);  // a name that exists wins
  EXPECT_EQ(names.find("3", "target"), 2);
  for (const char* text : {"0", "4", "-1", "", "1x", "99999999999999999999"}) {
    expect_error(ErrorCode::invalid_data, "no column '" + std::string(text) + "' (target) among its 3 columns",
                 [&] { names.find(text, "target"); });
  }
  try {
    names.find("aeg", "target");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data);
    EXPECT_EQ(std::string(error.what()), "f.csv: no column 'aeg' (target) among its 3 columns (did you mean 'age'?)");
  }
}

TEST(ApplyRoles, GivesNamesAndRoles) {
  Table table = three_columns();
  ReadOptions options;
  options.names = {"x", "y", "z"};
  options.target = "z";
  options.id = "1";
  options.ignore = {"y"};
  apply_roles(table, options, nullptr, Names::positions, {}, 0);
  EXPECT_EQ(table.columns[0].name, "x");
  EXPECT_EQ(table.columns[0].role, Role::id);
  EXPECT_EQ(table.columns[1].role, Role::ignore);
  EXPECT_EQ(table.columns[2].role, Role::label);
}

TEST(ApplyRoles, TurnsNumbersIntoValuesAndBack) {
  Table table = three_columns();
  ReadOptions options;
  options.nominal = {"1"};
  options.target = "2";
  options.target_is_nominal = true;
  apply_roles(table, options, nullptr, Names::positions, {}, 0);
  EXPECT_EQ(table.columns[0].values, (Texts{"1", "3"}));
  EXPECT_EQ(table.columns[0].codes()[0], 1);
  EXPECT_EQ(table.columns[1].values, (Texts{"0.5", "10"}));
  EXPECT_TRUE(table.columns[1].missing(1));
  table.validate();

  options = {};
  options.numeric = {"1"};
  apply_roles(table, options, nullptr, Names::positions, {}, 0);
  EXPECT_EQ(table.columns[0].at(0), 3);
  EXPECT_FALSE(table.columns[0].nominal());
}

TEST(ApplyRoles, TurnsValuesIntoDatesOrSaysWhichIsNone) {
  Schema schema;
  schema.columns = {{"d", ValueType::date, Role::regular, {}}};
  Table table;
  table.n_rows = 3;
  table.columns = {make_nominal("d", {1, kMissingCode, 0}, {"1970-01-03", "1970-01-02T12:00:00"})};
  Table wrong = table;
  apply_roles(table, {}, &schema, Names::given, {}, 0);
  EXPECT_EQ(table.columns[0].type, ValueType::date);
  EXPECT_EQ(table.columns[0].at(0), 1.5);
  EXPECT_TRUE(table.columns[0].missing(1));
  EXPECT_EQ(table.columns[0].at(2), 2);
  wrong.columns[0].values = {"1970-01-03", "someday"};
  expect_error(ErrorCode::invalid_data, "'someday' is not an ISO date",
               [&] { apply_roles(wrong, {}, &schema, Names::given, {}, 0); });
}

TEST(ApplyRoles, ValuesThatAreNotOfTheSchemaAreRefused) {
  Schema schema;
  schema.columns = {{"c", ValueType::nominal, Role::regular, {"a", "b"}}};
  Table table;
  table.n_rows = 3;
  table.columns = {make_nominal("c", {0, kMissingCode, 1}, {"b", "z"})};
  expect_error(ErrorCode::invalid_data, "'z' is not among the schema's values",
               [&] { apply_roles(table, {}, &schema, Names::given, {}, 0); });
  // Words in a list for numbers are values that no row has.
  schema.columns = {{"c", ValueType::nominal, Role::regular, {"many", "2.0"}}};
  table.columns = {make_numeric("c", {2, 2, 2})};
  apply_roles(table, {}, &schema, Names::given, {}, 0);
  EXPECT_EQ(table.columns[0].codes()[2], 1);
}

TEST(ApplyRoles, AppearanceOrder) {
  Table table = three_columns();
  ReadOptions options;
  options.nominal = {"1"};
  options.nominal_order = NominalOrder::appearance;
  apply_roles(table, options, nullptr, Names::positions, {}, 0);
  EXPECT_EQ(table.columns[0].values, (Texts{"3", "1"}));
}

TEST(ApplyRoles, SchemaByPositionAndByName) {
  Schema schema;
  schema.columns = {{"a", ValueType::nominal, Role::label, {"3.0", "1"}},
                    {"b", ValueType::integer, Role::weight, {}},
                    {"c", ValueType::binominal, Role::regular, {"x", "7"}}};
  Table table = three_columns();
  apply_roles(table, {}, &schema, Names::positions, {}, 0);
  EXPECT_EQ(table.columns[0].name, "a");
  EXPECT_EQ(table.columns[0].values, (Texts{"3.0", "1"}));
  EXPECT_EQ(table.columns[0].codes()[0], 0);
  EXPECT_EQ(table.columns[0].codes()[1], 1);
  EXPECT_EQ(table.columns[1].type, ValueType::integer);
  EXPECT_EQ(table.columns[1].role, Role::weight);
  EXPECT_EQ(table.columns[2].values, (Texts{"x", "7"}));
  EXPECT_EQ(table.columns[2].codes()[0], 0);
  EXPECT_EQ(table.columns[2].codes()[1], 1);
  EXPECT_EQ(table.columns[2].codes()[2], kMissingCode);

  std::swap(schema.columns[0], schema.columns[1]);
  Table named = three_columns();
  ReadOptions options;
  options.names = {"a", "b", "c"};
  apply_roles(named, options, &schema, Names::positions, {}, 0);
  EXPECT_EQ(named.columns[0].role, Role::label);
}

TEST(ApplyRoles, OptionsWinOverTheSchema) {
  Schema schema;
  schema.columns = {{"a", ValueType::real, Role::regular, {}},
                    {"b", ValueType::real, Role::label, {}},
                    {"c", ValueType::nominal, Role::regular, {}}};
  Table table = three_columns();
  ReadOptions options;
  options.target = "c";
  options.nominal = {"a"};
  apply_roles(table, options, &schema, Names::positions, {}, 0);
  EXPECT_EQ(table.columns[1].role, Role::regular);
  EXPECT_EQ(table.columns[2].role, Role::label);
  EXPECT_TRUE(table.columns[0].nominal());
}

TEST(ApplyRoles, Errors) {
  ReadOptions options;
  options.numeric = {"3"};
  EXPECT_EQ(error_of(options, nullptr, Names::positions, ErrorCode::invalid_data),
            "t.npy: column '3', row 0: 'x' is not a number");
  options = {};
  options.sample_weight = "3";
  error_of(options, nullptr, Names::positions, ErrorCode::invalid_data);
  options = {};
  options.target = "1";
  options.ignore = {"1"};
  error_of(options, nullptr, Names::positions, ErrorCode::invalid_argument);
  options = {};
  options.nominal = {"1"};
  options.numeric = {"1"};
  error_of(options, nullptr, Names::positions, ErrorCode::invalid_argument);
  options = {};
  options.names = {"a", "b"};
  error_of(options, nullptr, Names::positions, ErrorCode::invalid_argument);
  Schema schema;
  schema.columns = {{"1", ValueType::nominal, Role::regular, {"3"}},
                    {"2", ValueType::real, Role::regular, {}},
                    {"3", ValueType::nominal, Role::regular, {}}};
  EXPECT_EQ(error_of({}, &schema, Names::given, ErrorCode::invalid_data),
            "t.npy: column '1', row 1: '1' is not among the schema's values");
  schema.columns[0].name = "x";
  error_of({}, &schema, Names::given, ErrorCode::invalid_data);
  schema.columns.pop_back();
  error_of({}, &schema, Names::positions, ErrorCode::invalid_data);
}

}  // namespace
}  // namespace stope::io
