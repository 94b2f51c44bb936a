// Schema files: JSON that says names, types, roles and value orders of a table's columns (docs/FORMATS.md).
#include <algorithm>
#include <new>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/guarded.hpp"
#include "io/json_tree.hpp"
#include "io/readers.hpp"
#include "stope/names.hpp"
#include "stope/nearest_name.hpp"

namespace stope::io {
namespace {

// The parsed tree takes some 20 times the text. 256 MiB are millions of columns.
constexpr std::size_t kMaxSchemaBytes = std::size_t{1} << 28;

/// Reads one file's columns; `where` in messages is "FILE: train_columns[3] ('att4')".
class SchemaReader {
 public:
  explicit SchemaReader(const std::string& name) : name_(name) {}

  Schema read(const JsonTree& root, std::string_view part) {
    if (root.kind != JsonTree::Kind::object) fail("the schema is not a JSON object");
    const std::string part_key = std::string(part) + "_columns";
    const bool has_parts = root.find("train_columns") != nullptr || root.find("test_columns") != nullptr;
    if (root.find("columns") != nullptr && has_parts)
      fail("it has both 'columns' and 'train_columns' or 'test_columns'");
    const std::string key = has_parts ? part_key : "columns";
    const JsonTree* columns = root.find(key);
    if (columns == nullptr) {
      fail(has_parts ? "it has no '" + key + "'" : "it has neither 'columns' nor 'train_columns' and 'test_columns'");
    }
    if (columns->kind != JsonTree::Kind::array) fail("'" + key + "' is not a list");
    if (columns->items.empty()) fail("'" + key + "' is empty");

    Schema schema;
    std::unordered_set<std::string> names;
    schema.columns.reserve(columns->items.size());
    for (std::size_t i = 0; i < columns->items.size(); ++i) {
      where_ = key + "[" + std::to_string(i) + "]";
      schema.columns.push_back(column(columns->items[i]));
      if (!names.insert(schema.columns.back().name).second) fail("a second column of that name");
    }
    where_.clear();
    if (const JsonTree* token = root.find("missing_token")) schema.missing_token = text_of(*token, "missing_token");
    return schema;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::invalid_data, (where_.empty() ? "" : where_ + ": ") + message, {name_});
  }

  std::string text_of(const JsonTree& value, const std::string& key) const {
    if (value.kind != JsonTree::Kind::string) {
      fail("'" + key + "' is " + std::string(value.kind_name()) + ", not a string");
    }
    return value.text;
  }

  const JsonTree& required(const JsonTree& object, const std::string& key) const {
    const JsonTree* value = object.find(key);
    if (value == nullptr) fail("it has no '" + key + "'");
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

  ColumnSpec column(const JsonTree& json) {
    if (json.kind != JsonTree::Kind::object) {
      fail("a column is described by an object with 'name', 'type', 'role', 'values'");
    }
    ColumnSpec spec;
    spec.name = text_of(required(json, "name"), "name");
    if (spec.name.empty()) fail("its 'name' is empty");
    where_ += " ('" + spec.name + "')";
    spec.type = type_of(text_of(required(json, "type"), "type"));
    if (const JsonTree* role = json.find("role")) spec.role = role_of(text_of(*role, "role"));
    if (const JsonTree* values = json.find("values")) spec.values = values_of(*values, spec.type);
    return spec;
  }

  std::vector<std::string> values_of(const JsonTree& json, ValueType type) const {
    if (json.kind != JsonTree::Kind::array) {
      fail("'values' is " + std::string(json.kind_name()) + ", not a list");
    }
    if (!is_nominal(type)) {
      if (json.items.empty()) return {};
      fail("'values' of a column of type " + std::string(to_string(type)) + " (only nominal columns have values)");
    }
    if (type == ValueType::binominal && json.items.size() > 2) {
      fail("a binominal column has at most 2 values, not " + std::to_string(json.items.size()));
    }
    std::vector<std::string> values;
    std::unordered_set<std::string> seen;
    values.reserve(json.items.size());
    for (const JsonTree& value : json.items) {
      values.push_back(text_of(value, "values"));
      if (!seen.insert(values.back()).second) fail("the value '" + values.back() + "' occurs twice in 'values'");
    }
    return values;
  }

  const std::string& name_;
  std::string where_;
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
    return SchemaReader(name).read(parse_json(json, name, budget), part);
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
