// Cuts: where the values of a table's attributes are divided, whoever found them (stope/discretize.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stope {

/// The cuts of one attribute. Of a numeric one ascending numbers: x < cuts[0] is s1, cuts[0] <= x < cuts[1] is s2, ...,
/// with -infinity for "missing | present". Of a symbolic one values, each cut off from all others: values[0] is s1,
/// values[1] is s2, ..., any other value is the last code; "?" is the missing value.
struct AttributeCuts {
  std::string name;
  bool symbolic = false;
  std::vector<double> numbers;
  std::vector<std::string> values;

  std::int64_t size() const { return static_cast<std::int64_t>(symbolic ? values.size() : numbers.size()); }
};

/// Attributes that have cuts, in the order of the table they were found in. Names are unique.
using CutSet = std::vector<AttributeCuts>;

}  // namespace stope
