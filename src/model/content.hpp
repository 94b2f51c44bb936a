// The content of every model file: its kind, options as text, and tables. One source file per kind turns fitted models
// into it and back (neighbors.cpp, ...). Only container.hpp knows the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "stope/names.hpp"
#include "stope/table.hpp"

namespace stope::model {

struct NamedTable {
  std::string name;
  Table table;
};

struct Content {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> options;  ///< name and value; names are unique
  std::vector<NamedTable> tables;                            ///< names are unique
  std::string source;                                        ///< the file, for messages

  void set(std::string name, std::string value) { options.emplace_back(std::move(name), std::move(value)); }
  void set(std::string name, double value);
  void set(std::string name, std::int64_t value) { set(std::move(name), std::to_string(value)); }
  template <class Choice>
    requires std::is_enum_v<Choice>
  void set(std::string name, Choice value) {
    set(std::move(name), std::string(to_string(value)));
  }

  /// The option's value; null where there is no such option.
  const std::string* find(std::string_view name) const;
  /// These throw invalid_data where the option is missing or has no such value.
  const std::string& text(std::string_view name) const;
  double real(std::string_view name) const;
  /// The number that is the value of that option: for loops over the options, which find() would make quadratic.
  double real(const std::pair<std::string, std::string>& option) const;
  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  /// The index of the option's value in `choices`; throws invalid_data for any other value.
  std::size_t choice(std::string_view name, const std::vector<std::string>& choices) const;
  /// The option as a value of the enumeration; throws invalid_data where it is the name of none.
  template <class Choice>
  Choice choice(std::string_view name) const {
    return static_cast<Choice>(choice(name, names_of<Choice>()));
  }
  /// Throws invalid_data where there is no such table.
  const Table& table(std::string_view name) const;
  bool has_table(std::string_view name) const;
  /// A column of a table; throws invalid_data where there is none of that kind.
  const Column& column(std::string_view table, std::string_view name, bool nominal) const;
  /// A nominal column whose rows have a value of their own each; throws invalid_data otherwise. Whoever copies the
  /// values of all rows then takes no more memory for them than the file has bytes.
  const Column& names(std::string_view table, std::string_view name) const;

  [[noreturn]] void fail(const std::string& what) const;
};

}  // namespace stope::model
