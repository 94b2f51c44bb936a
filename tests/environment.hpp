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

/// Sets a variable for a scope.
class ForcedVariable {
 public:
  ForcedVariable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~ForcedVariable() { unsetenv(name_); }
  ForcedVariable(const ForcedVariable&) = delete;
  ForcedVariable& operator=(const ForcedVariable&) = delete;

 private:
  const char* name_;
};

/// Forces a back end for a scope.
class ForcedBackend : public ForcedVariable {
 public:
  explicit ForcedBackend(const std::string& name) : ForcedVariable("STOPE_BACKEND", name) {}
};

/// Lets an index encode its rows in parts of so many for a scope; 0 leaves it the choice.
class PartRows {
 public:
  explicit PartRows(std::int64_t rows) { set_size("STOPE_PART_ROWS", rows); }
  ~PartRows() { set_size("STOPE_PART_ROWS", 0); }
  PartRows(const PartRows&) = delete;
  PartRows& operator=(const PartRows&) = delete;
};

inline void unset_all(std::initializer_list<const char*> names) {
  for (const char* name : names) unsetenv(name);
}

}  // namespace stope
