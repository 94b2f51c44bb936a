// Cuts: where the values of a table's attributes are divided. stope/discretize.hpp finds and applies them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// The cuts of one attribute. Numeric: `numbers`, ascending. x < numbers[0] is s1, numbers[0] <= x < numbers[1] is s2,
/// and so on; the cut -infinity means "missing | present". Symbolic: `values`, each cut off from all others. values[0]
/// is s1, values[1] is s2, and so on; any other value has the last code, and "?" is the missing value.
struct AttributeCuts {
  std::string name;
  bool symbolic = false;
  std::vector<double> numbers;
  std::vector<std::string> values;

  std::int64_t size() const { return static_cast<std::int64_t>(symbolic ? values.size() : numbers.size()); }
};

/// The attributes that have cuts, in the order of the table in which they were found. Names are unique.
using CutSet = std::vector<AttributeCuts>;

}  // namespace stope
#pragma GCC visibility pop
