// Schema files: JSON that says names, types, roles and value orders of a table's columns (docs/FORMATS.md).
#include <nlohmann/json.hpp>

#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/nearest_name.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

using Json = nlohmann::json;

constexpr int kMaxDepth = 32;  // a schema needs 4; the limit stops files made of a million brackets
// The parsed tree takes some 20 times the text. 256 MiB are millions of columns.
constexpr std::size_t kMaxSchemaBytes = std::size_t{1} << 28;

/// Line and column of a byte, both from 1.
Place place_of(std::string_view text, std::size_t byte, const std::string& name) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0: the first line
  return {name, static_cast<std::int64_t>(lines) + 1, static_cast<std::int64_t>(before.size() - line_start) + 1};
}

/// Parses with limits that nlohmann's parser leaves to its caller: depth, and no key twice in an object (it would keep
/// the last one silently).
Json parse_json(std::string_view text, const std::string& name) {
  std::vector<std::set<std::string>> keys;
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth) {
      throw Error(ErrorCode::invalid_file,
                  name + ": the JSON is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      throw Error(ErrorCode::invalid_file,
                  name + ": the key '" + value.get<std::string>() + "' stands twice in an object");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...": keep the last part.
    std::string message = error.what();
    const std::size_t colon = message.find(": ");
    if (colon != std::string::npos) message.erase(0, colon + 2);
    throw Error(ErrorCode::invalid_file, "no valid JSON: " + message,
                place_of(text, error.byte > 0 ? error.byte - 1 : 0, name));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::invalid_file, name + ": no valid JSON: " + error.what());
  }
}

/// Reads one file's columns; `where` in messages is "FILE: train_columns[3] ('att4')".
class SchemaReader {
 public:
  explicit SchemaReader(const std::string& name) : name_(name) {}

  Schema read(const Json& root, std::string_view part) {
    if (!root.is_object()) fail("the schema is no JSON object");
    const std::string part_key = std::string(part) + "_columns";
    const bool has_parts = root.contains("train_columns") || root.contains("test_columns");
    if (root.contains("columns") && has_parts) fail("it has both 'columns' and 'train_columns' or 'test_columns'");
    const std::string key = has_parts ? part_key : "columns";
    if (!root.contains(key)) {
      fail(has_parts ? "it has no '" + key + "'" : "it has neither 'columns' nor 'train_columns' and 'test_columns'");
    }
    const Json& columns = root[key];
    if (!columns.is_array()) fail("'" + key + "' is no list");
    if (columns.empty()) fail("'" + key + "' is empty");

    Schema schema;
    std::unordered_set<std::string> names;
    schema.columns.reserve(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      where_ = key + "[" + std::to_string(i) + "]";
      schema.columns.push_back(column(columns[i]));
      if (!names.insert(schema.columns.back().name).second) fail("a second column of that name");
    }
    where_.clear();
    if (root.contains("missing_token")) schema.missing_token = text_of(root["missing_token"], "missing_token");
    return schema;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::invalid_file, name_ + ": " + (where_.empty() ? "" : where_ + ": ") + message);
  }

  std::string text_of(const Json& value, const std::string& key) const {
    if (!value.is_string()) fail("'" + key + "' is " + value.type_name() + ", not a string");
    return value.get<std::string>();
  }

  ValueType type_of(const std::string& text) const {
    if (text == "numeric") return ValueType::real;
    std::vector<std::string> names = {"numeric"};
    for (const ValueType type : {ValueType::real, ValueType::integer, ValueType::date, ValueType::nominal,
                                 ValueType::polynominal, ValueType::binominal}) {
      if (text == to_string(type)) return type;
      names.emplace_back(to_string(type));
    }
    fail("unknown type '" + text + "'" + did_you_mean(text, names));
  }

  Role role_of(const std::string& text) const {
    if (text == "attribute") return Role::regular;
    std::vector<std::string> names = {"attribute"};
    for (const Role role : {Role::regular, Role::label, Role::id, Role::weight, Role::ignore}) {
      if (text == to_string(role)) return role;
      names.emplace_back(to_string(role));
    }
    fail("unknown role '" + text + "'" + did_you_mean(text, names));
  }

  ColumnSpec column(const Json& json) {
    if (!json.is_object()) fail("a column is described by an object with 'name', 'type', 'role', 'values'");
    ColumnSpec spec;
    if (!json.contains("name")) fail("it has no 'name'");
    spec.name = text_of(json["name"], "name");
    if (spec.name.empty()) fail("its 'name' is empty");
    where_ += " ('" + spec.name + "')";
    if (!json.contains("type")) fail("it has no 'type'");
    spec.type = type_of(text_of(json["type"], "type"));
    if (json.contains("role")) spec.role = role_of(text_of(json["role"], "role"));
    if (json.contains("values")) spec.values = values_of(json["values"], spec.type);
    return spec;
  }

  std::vector<std::string> values_of(const Json& json, ValueType type) const {
    if (!json.is_array()) fail("'values' is " + std::string(json.type_name()) + ", not a list");
    if (!is_nominal(type)) {
      if (json.empty()) return {};
      fail("'values' of a column of type " + std::string(to_string(type)) + " (only nominal columns have values)");
    }
    if (type == ValueType::binominal && json.size() > 2) {
      fail("a binominal column has at most 2 values, not " + std::to_string(json.size()));
    }
    std::vector<std::string> values;
    std::unordered_set<std::string> seen;
    values.reserve(json.size());
    for (const Json& value : json) {
      values.push_back(text_of(value, "values"));
      if (!seen.insert(values.back()).second) fail("the value '" + values.back() + "' stands twice in 'values'");
    }
    return values;
  }

  const std::string& name_;
  std::string where_;
};

}  // namespace

Schema parse_schema(std::string_view json, std::string_view part, const std::string& name) {
  if (part != "train" && part != "test") {
    throw Error(ErrorCode::invalid_argument, "schema part '" + std::string(part) + "' is neither train nor test");
  }
  if (json.size() > kMaxSchemaBytes) {
    throw Error(ErrorCode::invalid_file, name + ": a schema of " + std::to_string(json.size()) + " bytes (at most " +
                                             std::to_string(kMaxSchemaBytes) + " are read)");
  }
  try {
    return SchemaReader(name).read(parse_json(json, name), part);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory,
                name + ": no memory to parse a schema of " + std::to_string(json.size()) + " bytes");
  }
}

}  // namespace stope::io

namespace stope {

Schema read_schema(const std::string& path, std::string_view part) {
  const io::Bytes bytes = io::load_bytes(path, {});
  return io::parse_schema(bytes.view, part, bytes.name);
}

}  // namespace stope
