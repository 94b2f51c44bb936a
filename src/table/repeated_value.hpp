// Finds a value that is missing, or that two rows of a nominal column share: for readers that copy the values of all
// rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stope/table.hpp"

namespace stope {

/// The first row that has no value, or one that an earlier row has, too; -1 if there is none. In a model's tables each
/// name has a value of its own. If one long value stood in all rows, its copies would take far more memory than the
/// file has bytes.
inline std::int64_t row_of_missing_or_repeated_value(const Column& names) {
  std::vector<bool> seen(names.values.size());
  for (std::int64_t row = 0; row < names.size(); ++row) {
    if (names.missing(row)) return row;
    const auto code = static_cast<std::size_t>(names.codes()[row]);
    if (seen[code]) return row;
    seen[code] = true;
  }
  return -1;
}

}  // namespace stope
