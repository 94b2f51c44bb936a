// Schema files: JSON that says names, types, roles and value orders of a table's columns (docs/FORMATS.md).
#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/name_index.hpp"
#include "io/json_tree.hpp"
#include "io/readers.hpp"
#include "stope/names.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

// 256 MiB are millions of columns.
constexpr std::size_t kMaxSchemaBytes = std::size_t{1} << 28;

/// Reads one file's columns; `where` in messages is "FILE: train_columns[3] ('att4')".
class SchemaReader {
 public:
  // The schema may take `budget` bytes.
  SchemaReader(const std::string& name, std::int64_t budget) : name_(name), budget_(budget), left_(budget) {}

  Schema read(const JsonValue& root, std::string_view part) {
    if (root.kind() != JsonValue::Kind::object) fail("the schema is not a JSON object");
    const std::string part_key = std::string(part) + "_columns";
    const bool has_parts = root.find("train_columns").has_value() || root.find("test_columns").has_value();
    if (root.find("columns").has_value() && has_parts)
      fail("it has both 'columns' and 'train_columns' or 'test_columns'");
    const std::string key = has_parts ? part_key : "columns";
    const std::optional<JsonValue> columns = root.find(key);
    if (!columns.has_value()) {
      fail(has_parts ? "it has no '" + key + "'" : "it has neither 'columns' nor 'train_columns' and 'test_columns'");
    }
    if (columns->kind() != JsonValue::Kind::array) fail("'" + key + "' is not a list");
    if (columns->size() == 0) fail("'" + key + "' is empty");

    Schema schema;
    count(checked::mul(columns->size(), sizeof(ColumnSpec) + kIndexed));
    NameIndex names(static_cast<std::size_t>(columns->size()));
    schema.columns.reserve(static_cast<std::size_t>(columns->size()));
    for (const auto& item : columns->items()) {
      where_ = key + "[" + std::to_string(schema.columns.size()) + "]";
      schema.columns.push_back(column(item.value));
      if (names.add(schema.columns.back().name) >= 0) fail("a second column of that name");
    }
    where_.clear();
    if (const std::optional<JsonValue> token = root.find("missing_token"))
      schema.missing_token = text_of(*token, "missing_token");
    return schema;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::invalid_data, (where_.empty() ? "" : where_ + ": ") + message, {name_});
  }

  void count(std::int64_t bytes) {
    left_ -= bytes;
    if (left_ >= 0) return;
    throw Error(ErrorCode::out_of_memory,
                "the schema needs more than " + std::to_string(budget_ - left_) +
                    " bytes besides its JSON, but the memory limit leaves " + std::to_string(budget_),
                {name_});
  }

  std::string text_of(const JsonValue& value, const std::string& key) {
    if (value.kind() != JsonValue::Kind::string) {
      fail("'" + key + "' is " + std::string(value.kind_name()) + ", not a string");
    }
    count(std::ssize(value.text()));
    return std::string(value.text());
  }

  JsonValue required(const JsonValue& object, const std::string& key) const {
    const std::optional<JsonValue> value = object.find(key);
    if (!value.has_value()) fail("it has no '" + key + "'");
    return *value;
  }

  ValueType type_of(const std::string& text) const {
    return text == "numeric" ? ValueType::real : named<ValueType>(text, "type", "numeric");
  }

  Role role_of(const std::string& text) const {
    return text == "attribute" ? Role::regular : named<Role>(text, "role", "attribute");
  }

  /// `alias` is one more name that the message may suggest.
  template <class Choice>
  Choice named(const std::string& text, const std::string& what, const std::string& alias) const {
    std::vector<std::string> names = names_of<Choice>();
    const auto at = std::find(names.begin(), names.end(), text);
    if (at != names.end()) return static_cast<Choice>(at - names.begin());
    names.push_back(alias);
    fail("unknown " + what + " '" + text + "'" + did_you_mean(text, names));
  }

  ColumnSpec column(const JsonValue& json) {
    if (json.kind() != JsonValue::Kind::object) {
      fail("a column is described by an object with 'name', 'type', 'role', 'values'");
    }
    ColumnSpec spec;
    spec.name = text_of(required(json, "name"), "name");
    if (spec.name.empty()) fail("its 'name' is empty");
    where_ += " ('" + spec.name + "')";
    spec.type = type_of(text_of(required(json, "type"), "type"));
    if (const std::optional<JsonValue> role = json.find("role")) spec.role = role_of(text_of(*role, "role"));
    if (const std::optional<JsonValue> values = json.find("values")) spec.values = values_of(*values, spec.type);
    return spec;
  }

  std::vector<std::string> values_of(const JsonValue& json, ValueType type) {
    if (json.kind() != JsonValue::Kind::array) {
      fail("'values' is " + std::string(json.kind_name()) + ", not a list");
    }
    if (!is_nominal(type)) {
      if (json.size() == 0) return {};
      fail("'values' of a column of type " + std::string(to_string(type)) + " (only nominal columns have values)");
    }
    if (type == ValueType::binominal && json.size() > 2) {
      fail("a binominal column has at most 2 values, not " + std::to_string(json.size()));
    }
    std::vector<std::string> values;
    count(checked::mul(json.size(), sizeof(std::string) + kIndexed));
    NameIndex seen(static_cast<std::size_t>(json.size()));
    values.reserve(static_cast<std::size_t>(json.size()));
    for (const auto& item : json.items()) {
      values.push_back(text_of(item.value, "values"));
      if (seen.add(values.back()) >= 0) fail("the value '" + values.back() + "' occurs twice in 'values'");
    }
    return values;
  }

  static constexpr std::int64_t kIndexed = 40;  // a name's view and its slots in the index

  const std::string& name_;
  std::string where_;
  std::int64_t budget_, left_;
};

}  // namespace

Schema parse_schema(std::string_view json, std::string_view part, const std::string& name, std::int64_t budget) {
  if (part != "train" && part != "test") {
    throw Error(ErrorCode::invalid_argument, "schema part '" + std::string(part) + "' is neither train nor test");
  }
  if (json.size() > kMaxSchemaBytes) {
    throw Error(ErrorCode::invalid_data,
                "a schema of " + std::to_string(json.size()) + " bytes (at most " + std::to_string(kMaxSchemaBytes) +
                    " are read)",
                {name});
  }
  try {
    const JsonTree tree = parse_json(json, name, budget);
    return SchemaReader(name, budget - tree.bytes()).read(tree.root(), part);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "no memory to parse a schema of " + std::to_string(json.size()) + " bytes",
                {name});
  }
}

}  // namespace stope::io

namespace stope {

Schema read_schema(const std::string& path, std::string_view part, const RunOptions& run) try {
  const io::Bytes bytes = io::load_bytes(path, run);
  return io::parse_schema(bytes.view, part, bytes.name, memory_budget(run) - bytes.held);
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
