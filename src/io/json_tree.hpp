// A parsed JSON text. nlohmann-json does the parsing, through its event interface: its own tree allocates while it is
// destroyed, so that running out of memory half-way would end the process (promise 4).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stope::io {

/// One value. Truth values are kept as their kind alone: no file stope reads gives them a meaning.
struct JsonTree {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;                ///< of a string
  std::vector<JsonTree> items;     ///< of an array, or of an object in file order
  std::vector<std::string> names;  ///< of an object's items, none twice
  double number = 0.0;

  /// The member of that name, or null.
  const JsonTree* find(std::string_view key) const;
  /// "a string", "a list", ... for error messages.
  std::string_view kind_name() const;
};

/// Parses a whole text. Throws invalid_file with file:line:column for what is no JSON, for more than 32 levels of
/// nesting and for a key that stands twice in an object.
JsonTree parse_json(std::string_view text, const std::string& name);

}  // namespace stope::io
