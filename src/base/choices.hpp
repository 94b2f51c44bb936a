// Names of enumerations (stope/names.hpp): a table of names, in the order of the values, to name and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stope {

/// What a name is looked up for, for the error.
struct ChoiceOf {
  std::string_view what;    ///< as in "unknown vote weights 'x'"
  std::string_view option;  ///< the option of the API: Error::option()
};

/// Returns where `name` stands. Throws invalid_argument that lists the names, and the nearest one.
std::size_t index_of(std::span<const std::string_view> names, std::string_view name, const ChoiceOf& of);

/// The value of that name.
template <class Choice>
Choice choice_of(std::span<const std::string_view> names, std::string_view name, const ChoiceOf& of) {
  return static_cast<Choice>(index_of(names, name, of));
}

/// The name of a value; "" where it is no value of the enumeration.
template <class Choice>
std::string_view name_of(std::span<const std::string_view> names, Choice choice) noexcept {
  const auto at = static_cast<std::size_t>(choice);  // a negative number becomes a large one
  return at < names.size() ? names[at] : std::string_view();
}

}  // namespace stope
