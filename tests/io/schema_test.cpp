// Schema files: what they may say, every way to say it wrong, and all of ../shared/goldens/rapidminer unchanged.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "expect_error.hpp"
#include "io/readers.hpp"

namespace stope {
namespace {

Schema parse(std::string_view json, std::string_view part = "train") {
  return io::parse_schema(json, part, "s.json");
}

void expect_invalid(std::string_view json, const std::string& message, std::int64_t line = 0, std::int64_t column = 0) {
  try {
    parse(json);
    ADD_FAILURE() << "no error for " << json;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data) << error.what();
    EXPECT_EQ(std::string(error.what()).find("s.json"), 0U) << error.what();
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_EQ(error.column(), column) << error.what();
  }
}

TEST(SchemaJson, Columns) {
  const Schema schema = parse(R"({"comment": [1, 1.5, [], {}, {"any": ["thing", 2.5, null, true]}], "columns": [
    {"name": "a", "type": "numeric"}, {"name": "b", "type": "integer", "role": "attribute", "values": []},
    {"name": "c", "type": "binominal", "role": "label", "values": ["x", ""], "nominal": true},
    {"name": "d\u00e9", "type": "polynominal", "role": "id"}, {"name": "e", "type": "date", "role": "weight"},
    {"name": "f", "type": "nominal", "role": "ignore"}, {"name": "g", "type": "real", "role": "regular"}]})");
  ASSERT_EQ(schema.columns.size(), 7U);
  EXPECT_FALSE(schema.missing_token.has_value());
  EXPECT_EQ(schema.columns[0].type, ValueType::real);
  EXPECT_EQ(schema.columns[1].type, ValueType::integer);
  EXPECT_EQ(schema.columns[1].role, Role::regular);
  EXPECT_EQ(schema.columns[2].type, ValueType::binominal);
  EXPECT_EQ(schema.columns[2].role, Role::label);
  EXPECT_EQ(schema.columns[2].values, (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(schema.columns[3].name, "d\xC3\xA9");
  EXPECT_EQ(schema.columns[3].type, ValueType::polynominal);
  EXPECT_EQ(schema.columns[3].role, Role::id);
  EXPECT_EQ(schema.columns[4].type, ValueType::date);
  EXPECT_EQ(schema.columns[4].role, Role::weight);
  EXPECT_EQ(schema.columns[5].role, Role::ignore);
  EXPECT_EQ(parse(R"({"columns":[{"name":"a","type":"real"}]})", "test").columns.size(), 1U);
}

TEST(SchemaJson, TheIndexOfAnObjectsNamesCountsAgainstTheLimit) {
  std::string json = "{";
  for (int i = 0; i < 1000; ++i) json += "\"k" + std::to_string(i) + "\":1,";
  json += R"("columns":[{"name":"a","type":"real"}]})";
  EXPECT_EQ(io::parse_schema(json, "train", "s.json", 100'000).columns.size(), 1U);
  expect_error(ErrorCode::out_of_memory, "the JSON needs more than",
               [&] { io::parse_schema(json, "train", "s.json", 50'000); });
}

TEST(SchemaJson, PartsAndMissingToken) {
  const char* json = R"({"missing_token": "-", "train_columns": [{"name": "a", "type": "real"}],
    "test_columns": [{"name": "b", "type": "real"}, {"name": "a", "type": "real"}]})";
  EXPECT_EQ(parse(json, "train").columns.size(), 1U);
  EXPECT_EQ(parse(json, "test").columns.size(), 2U);
  EXPECT_EQ(parse(json, "test").missing_token.value(), "-");
  EXPECT_EQ(parse(R"({"missing_token":"","columns":[{"name":"a","type":"real"}]})").missing_token.value(), "");
  try {
    parse(json, "both");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
  expect_invalid(R"({"test_columns": [{"name": "b", "type": "real"}]})", "no 'train_columns'");
}

TEST(SchemaJson, NotJson) {
  expect_invalid("", "no valid JSON", 1, 1);
  expect_invalid("columns: x", "no valid JSON", 1, 1);
  expect_invalid("{\"columns\":\n  [,]}", "no valid JSON", 2, 4);
  expect_invalid("{\"columns\": [{\"name\": \"x\",", "no valid JSON", 1, 27);
  expect_invalid("{\"columns\": [{\"name\": \"\xFF\"}]}", "no valid JSON", 1, 24);
  expect_invalid("{} {}", "no valid JSON", 1, 4);
  expect_invalid("{\"columns\": 1e999}", "no valid JSON", 1, 17);
}

TEST(SchemaJson, WrongShapes) {
  expect_invalid("[]", "not a JSON object");
  expect_invalid("null", "not a JSON object");
  expect_invalid("{}", "neither 'columns' nor");
  expect_invalid(R"({"columns": []})", "'columns' is empty");
  expect_invalid(R"({"columns": {"x": 1}})", "'columns' is not a list");
  expect_invalid(R"({"columns": [{"name": true, "type": "real"}]})", "'name' is a boolean, not a string");
  expect_invalid(R"({"columns": [{"name": "x", "type": {}}]})", "'type' is an object, not a string");
  expect_invalid(R"({"columns": [{"name": ["x"], "type": "real"}]})", "'name' is a list, not a string");
  expect_invalid(R"({"columns": [], "train_columns": []})", "both");
  expect_invalid(R"({"columns": ["x"]})", "columns[0]: a column is described by an object");
  expect_invalid(R"({"columns": [{"type": "real"}]})", "columns[0]: it has no 'name'");
  expect_invalid(R"({"columns": [{"name": 3, "type": "real"}]})", "'name' is a number, not a string");
  expect_invalid(R"({"columns": [{"name": "", "type": "real"}]})", "'name' is empty");
  expect_invalid(R"({"columns": [{"name": "x"}]})", "columns[0] ('x'): it has no 'type'");
  expect_invalid(R"({"columns": [{"name": "x", "type": "quaternion"}]})", "unknown type 'quaternion'");
  expect_invalid(R"({"columns": [{"name": "x", "type": "binomial"}]})", "did you mean 'binominal'");
  expect_invalid(R"({"columns": [{"name": "x", "type": null}]})", "'type' is null");
  expect_invalid(R"({"columns": [{"name": "x", "type": "real", "role": "king"}]})", "unknown role 'king'");
  expect_invalid(R"({"columns": [{"name": "x", "type": "real", "role": "labl"}]})", "did you mean 'label'");
  expect_invalid(R"({"columns": [{"name": "x", "type": "real"}, {"name": "x", "type": "real"}]})",
                 "columns[1] ('x'): a second column of that name");
  expect_invalid(R"({"columns": [{"name": "x", "type": "nominal", "values": ["a", "b", "a"]}]})", "'a' occurs twice");
  expect_invalid(R"({"columns": [{"name": "x", "type": "nominal", "values": "a"}]})",
                 "'values' is a string, not a list");
  expect_invalid(R"({"columns": [{"name": "x", "type": "nominal", "values": [1]}]})", "'values' is a number");
  expect_invalid(R"({"columns": [{"name": "x", "type": "real", "values": ["a"]}]})", "only nominal columns");
  expect_invalid(R"({"columns": [{"name": "x", "type": "binominal", "values": ["a", "b", "c"]}]})", "at most 2 values");
  expect_invalid(R"({"columns": [{"name": "x", "name": "y", "type": "real"}]})", "'name' occurs twice");
  expect_invalid(R"({"missing_token": 5, "columns": [{"name": "x", "type": "real"}]})", "'missing_token' is a number");
}

TEST(SchemaJson, ATextThatIsTooLargeForASchemaIsRefusedUnread) {
  expect_invalid(std::string((std::size_t{256} << 20) + 1, ' '), "a schema of 268435457 bytes");
}

TEST(SchemaJson, DepthBombs) {
  expect_invalid(std::string(1000000, '['), "nested deeper");
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  expect_invalid(objects, "nested deeper");
  std::string allowed =
      R"({"columns":[{"name":"a","type":"real"}],"other":)" + std::string(30, '[') + std::string(30, ']') + "}";
  EXPECT_EQ(parse(allowed).columns.size(), 1U);
}

TEST(SchemaJson, Goldens) {
  const char* shared = std::getenv("STOPE_SHARED");
  const std::filesystem::path folder =
      (shared != nullptr ? std::filesystem::path(shared) : std::filesystem::path(STOPE_SOURCE_DIR) / ".." / "shared") /
      "goldens" / "rapidminer";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "schema.json" && !name.ends_with(".schema.json")) continue;
    ++files;
    for (const char* part : {"train", "test"}) {
      const Schema schema = read_schema(entry.path().string(), part);
      EXPECT_FALSE(schema.columns.empty()) << entry.path();
      for (const ColumnSpec& column : schema.columns) {
        EXPECT_EQ(is_nominal(column.type), !column.values.empty()) << entry.path() << " " << column.name;
      }
    }
  }
  EXPECT_EQ(files, 28);
  const Schema golf = read_schema((folder / "golf" / "schema.json").string(), "train");
  EXPECT_EQ(golf.missing_token.value(), "");
  EXPECT_EQ(golf.columns[0].values, (std::vector<std::string>{"rain", "overcast", "sunny"}));
  EXPECT_EQ(golf.columns[1].type, ValueType::integer);
  EXPECT_EQ(golf.columns[4].role, Role::label);
  const Schema stress = read_schema((folder / "map_stress" / "schema.json").string(), "test");
  EXPECT_EQ(stress.columns[0].name, "att5");
  EXPECT_EQ(stress.columns[1].type, ValueType::binominal);
}

TEST(SchemaJson, MissingFile) {
  try {
    read_schema("/no/such/schema.json", "train");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
  }
}

TEST(FormatOf, Suffixes) {
  EXPECT_EQ(format_of("a.csv"), Format::csv);
  EXPECT_EQ(format_of("/x.arff/a.TSV"), Format::tsv);
  EXPECT_EQ(format_of("a.arff.gz"), Format::arff);
  EXPECT_EQ(format_of("a.Npy.ZST"), Format::npy);
  EXPECT_EQ(format_of("a.fvecs"), Format::fvecs);
  EXPECT_EQ(format_of("a.bvecs.gz"), Format::bvecs);
  EXPECT_EQ(format_of("a.ivecs"), Format::ivecs);
  EXPECT_EQ(format_of("a.raw"), Format::raw);
  for (const char* none : {"", "-", "csv", "a.txt", "a.gz", "a.csv.gz.gz", "a.csv.bz2", ".", "a.csv "}) {
    EXPECT_EQ(format_of(none), Format::automatic) << none;
  }
}

}  // namespace
}  // namespace stope
