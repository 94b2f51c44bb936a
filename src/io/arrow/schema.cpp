#include "io/arrow/schema.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "base/name_index.hpp"
#include "io/json_tree.hpp"
#include "stope/error.hpp"

namespace stope::io::arrow {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& source) {
  throw Error(ErrorCode::invalid_data, message, {.file = source});
}

// Reads the pairs of a field's metadata: int32 count, then per pair int32 length, key, int32 length, value. The
// interface does not say how long the whole is, so that only negative numbers can be seen to be wrong.
class MetadataReader {
 public:
  MetadataReader(const char* at, const Field& field) : at_(at), field_(field) {}

  std::int32_t number() {
    std::int32_t value = 0;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    if (value < 0) field_.refuse("its Arrow metadata has a negative length");
    return value;
  }
  std::string_view text() {
    const std::int32_t length = number();
    const char* const begin = at_;
    at_ += length;
    return {begin, static_cast<std::size_t>(length)};
  }

 private:
  const char* at_;
  const Field& field_;
};

// The enumerator whose name is `text`, among the first to the last.
template <class Enum>
std::optional<Enum> named(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

ValueType usual_type(const Field& field) {
  const Kind kind = field.type.kind;
  if (kind == Kind::boolean) return ValueType::binominal;
  if (is_string(kind)) return ValueType::polynominal;
  if (is_date(kind)) return ValueType::date;
  const bool whole = is_integer(kind) || (kind == Kind::decimal && field.type.scale <= 0);
  return whole ? ValueType::integer : ValueType::real;
}

std::vector<std::string> listed_values(std::string_view json, const Field& field) {
  const JsonTree tree = parse_json(json, field.source);
  const JsonValue list = tree.root();
  if (list.kind() != JsonValue::Kind::array) field.refuse("its metadata lists its values in no list");
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(list.size()));
  NameIndex seen(static_cast<std::size_t>(list.size()));
  for (const auto& item : list.items()) {
    if (item.value.kind() != JsonValue::Kind::string) field.refuse("its metadata lists a value that is no text");
    const std::string_view text = item.value.text();
    if (seen.add(text) >= 0) field.refuse("its metadata lists the value '" + std::string(text) + "' twice");
    values.emplace_back(text);
  }
  return values;
}

// Types in metadata refine what the Arrow type says. Where the two disagree, somebody has put other values under an old
// field, and the Arrow type counts.
void apply_metadata(const char* metadata, Field& field) {
  if (metadata == nullptr) return;
  MetadataReader reader(metadata, field);
  for (std::int32_t left = reader.number(); left > 0; --left) {
    const std::string_view key = reader.text();
    const std::string_view value = reader.text();
    if (key == kRoleKey) {
      const std::optional<Role> role = named(value, Role::ignore);
      if (!role.has_value()) field.refuse("its metadata names an unknown role");
      field.role = *role;
    } else if (key == kTypeKey) {
      const std::optional<ValueType> type = named(value, ValueType::binominal);
      if (!type.has_value()) field.refuse("its metadata names an unknown type");
      if (is_nominal(*type) == field.nominal() && field.value_type != ValueType::date) field.value_type = *type;
    } else if (key == kValuesKey && field.codes.has_value()) {
      field.values = listed_values(value, field);
    } else if (key == kOrderKey && field.codes.has_value()) {
      field.sorted_values = value == "sorted";
    }
  }
}

void read_types(const ArrowSchema& child, Field& field) {
  const Type type = parse_format(child.format, field.where(), field.place());
  if (child.n_children != 0) field.refuse("its type has no children, the schema gives it some");
  if (child.dictionary == nullptr) {
    field.type = type;
    return;
  }
  const ArrowSchema& dictionary = *child.dictionary;
  if (!is_integer(type.kind)) {
    field.refuse(std::string("the indices of a dictionary are whole numbers, not ") + name_of(type.kind));
  }
  if (dictionary.release == nullptr) field.refuse("the schema of its dictionary has been released");
  field.codes = type;
  field.type = parse_format(dictionary.format, field.where() + ", dictionary", field.place());
  if (dictionary.n_children != 0 || dictionary.dictionary != nullptr) {
    field.refuse("the values of its dictionary are nested");
  }
  if (!is_string(field.type.kind)) {
    field.refuse_to_hold(std::string("a table cannot hold a dictionary of ") + name_of(field.type.kind) +
                         " values, only one of strings");
  }
}

Field field_of(const ArrowSchema* child, std::int64_t index, const std::string& source) {
  Field field;
  field.source = source;
  field.name = std::to_string(index + 1);
  if (child == nullptr) field.refuse("its Arrow schema is a null pointer");
  if (child->release == nullptr) field.refuse("its Arrow schema has been released");
  if (child->name != nullptr && child->name[0] != '\0') field.name = child->name;
  read_types(*child, field);
  field.value_type = usual_type(field);
  apply_metadata(child->metadata, field);
  return field;
}

}  // namespace

std::string Field::where(std::int64_t row) const {
  return "column '" + name + "'" + (row < 0 ? "" : ", row " + std::to_string(row));
}

void Field::refuse(const std::string& what, std::int64_t row) const {
  throw Error(ErrorCode::invalid_data, where(row) + ": " + what, place(row));
}

void Field::refuse_to_hold(const std::string& what, std::int64_t row) const {
  Place without = place(row);
  without.option = "ignore";
  throw Error(ErrorCode::unsupported, where(row) + ": " + what, without);
}

std::vector<Field> fields_of(const ArrowSchema& schema, const std::string& source) {
  if (schema.format == nullptr) refuse("the Arrow format of the data is a null pointer", source);
  if (std::string_view(schema.format) != "+s") {
    throw Error(ErrorCode::unsupported,
                "a table comes as Arrow's type struct, not as '" + std::string(schema.format).substr(0, 40) + "'",
                {.file = source});
  }
  if (schema.n_children < 0 || schema.dictionary != nullptr || (schema.n_children > 0 && schema.children == nullptr)) {
    refuse("an Arrow schema with " + std::to_string(schema.n_children) + " columns that are not there, or a dictionary",
           source);
  }
  std::vector<Field> fields;
  std::unordered_set<std::string> names;
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    fields.push_back(field_of(schema.children[i], i, source));
    if (!names.insert(fields.back().name).second) refuse("two columns are named '" + fields.back().name + "'", source);
  }
  return fields;
}

std::string with_entry(const char* metadata, const std::string& key, const std::string& value) {
  std::vector<std::pair<std::string, std::string>> entries;
  if (metadata != nullptr) {
    const Field nowhere;
    MetadataReader reader(metadata, nowhere);
    for (std::int32_t left = reader.number(); left > 0; --left) {
      std::string name(reader.text());
      entries.emplace_back(std::move(name), reader.text());
    }
  }
  entries.emplace_back(key, value);
  return encode_metadata(entries);
}

std::string encode_metadata(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string bytes;
  const auto append_number = [&](std::size_t size) {
    const auto number = static_cast<std::int32_t>(size);
    std::array<char, sizeof number> raw{};
    std::memcpy(raw.data(), &number, sizeof number);
    bytes.append(raw.data(), raw.size());
  };
  append_number(entries.size());
  for (const auto& [key, value] : entries) {
    append_number(key.size());
    bytes += key;
    append_number(value.size());
    bytes += value;
  }
  return bytes;
}

}  // namespace stope::io::arrow
