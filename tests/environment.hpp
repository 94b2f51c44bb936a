// Environment variables that tests read and set.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace stope {

/// Returns a whole number, or `otherwise` where the variable is not set.
inline std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

/// A size of 0 unsets the variable.
inline void set_size(const char* name, std::int64_t size) {
  if (size > 0) {
    setenv(name, std::to_string(size).c_str(), 1);
  } else {
    unsetenv(name);
  }
}

inline void unset_all(std::initializer_list<const char*> names) {
  for (const char* name : names) unsetenv(name);
}

}  // namespace stope
