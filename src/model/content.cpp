#include "model/content.hpp"

#include <algorithm>
#include <charconv>

#include "base/number_text.hpp"
#include "stope/error.hpp"
#include "table/repeated_value.hpp"

namespace stope::model {
namespace {

template <class T>
bool parse(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

void Content::set(std::string name, double value) {
  set(std::move(name), number_text(value));
}

const std::string* Content::find(std::string_view name) const {
  for (const auto& [key, value] : options) {
    if (key == name) return &value;
  }
  return nullptr;
}

const std::string& Content::text(std::string_view name) const {
  const std::string* const value = find(name);
  if (value == nullptr) fail("the model lacks the option '" + std::string(name) + "'");
  return *value;
}

double Content::real(std::string_view name) const {
  return real({std::string(name), text(name)});
}

double Content::real(const std::pair<std::string, std::string>& option) const {
  double value = 0.0;
  if (!parse(option.second, value)) fail("option '" + option.first + "': '" + option.second + "' is not a number");
  return value;
}

std::int64_t Content::integer(std::string_view name, std::int64_t least, std::int64_t most) const {
  std::int64_t value = 0;
  if (!parse(text(name), value) || value < least || value > most) {
    fail("option '" + std::string(name) + "': '" + text(name) + "' is not a whole number from " +
         std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::size_t Content::choice(std::string_view name, const std::vector<std::string>& choices) const {
  const std::string& value = text(name);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (choices[i] == value) return i;
  }
  fail("option '" + std::string(name) + "': '" + value + "' is not known here");
}

const Table& Content::table(std::string_view name) const {
  for (const NamedTable& named : tables) {
    if (named.name == name) return named.table;
  }
  fail("the model lacks the table '" + std::string(name) + "'");
}

bool Content::has_table(std::string_view name) const {
  return std::any_of(tables.begin(), tables.end(), [&](const NamedTable& named) { return named.name == name; });
}

const Column& Content::column(std::string_view table_name, std::string_view name, bool nominal) const {
  const Table& in = table(table_name);
  const std::int64_t at = in.find(name);
  if (at < 0 || in.columns[static_cast<std::size_t>(at)].nominal() != nominal) {
    fail("the model's table '" + std::string(table_name) + "' lacks the column '" + std::string(name) + "'");
  }
  return in.columns[static_cast<std::size_t>(at)];
}

const Column& Content::names(std::string_view table_name, std::string_view name) const {
  const Column& found = column(table_name, name, true);
  const std::int64_t row = row_of_missing_or_repeated_value(found);
  if (row < 0) return found;
  fail("the model's table '" + std::string(table_name) + "', column '" + std::string(name) + "', row " +
       std::to_string(row) + ": the value is missing, or that of an earlier row");
}

void Content::fail(const std::string& what) const {
  throw Error(ErrorCode::invalid_data, what, {source});
}

}  // namespace stope::model
