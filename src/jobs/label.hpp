// The label of a table.
#pragma once

#include <cstdint>

#include "stope/table.hpp"

namespace stope::jobs {

/// nullptr where there is none.
inline const Column* label_of(const Table& table) {
  const std::int64_t at = table.find(Role::label);
  return at < 0 ? nullptr : &table.columns[static_cast<std::size_t>(at)];
}

}  // namespace stope::jobs
