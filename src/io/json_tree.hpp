// A parsed JSON text. nlohmann-json parses it through its event interface. Its own tree is not used because it
// allocates while it is destroyed: running out of memory half-way would end the process (promise 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stope::io {

/// One value. A truth value keeps only its kind: no file that stope reads gives it a meaning.
struct JsonTree {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;                ///< a string's text
  std::vector<JsonTree> items;     ///< items of an array, or of an object in file order
  std::vector<std::string> names;  ///< names of an object's items, none twice
  double number = 0.0;

  /// The member of that name, or null.
  const JsonTree* find(std::string_view key) const;
  /// "a string", "a list", ... for error messages.
  std::string_view kind_name() const;
};

/// Parses a whole text. Throws invalid_data with file:line:column for text that is no JSON, for more than 32 levels of
/// nesting, and for a key that stands twice in an object; out_of_memory where the tree exceeds `budget` bytes.
JsonTree parse_json(std::string_view text, const std::string& name, std::int64_t budget = INT64_MAX);

}  // namespace stope::io
