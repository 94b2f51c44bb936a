// The names of enumerations. Each enumeration of options has a to_string() beside it, which gives "" for what is no
// value of it, and a function that reads a name: compat("rapidminer"), vote_weights("distance").
#pragma once

#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// The names of all values of an enumeration, value 0 first, as in names_of<Compat>().
template <class Choice>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (int value = 0; !to_string(static_cast<Choice>(value)).empty(); ++value) {
    names.emplace_back(to_string(static_cast<Choice>(value)));
  }
  return names;
}

}  // namespace stope
#pragma GCC visibility pop
