// Options that are numbers from 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "base/number_text.hpp"
#include "stope/error.hpp"

namespace stope {

/// Throws invalid_argument, with the option's name, for a value that is negative, infinite or no number.
inline void require_from_zero(const char* option, double value) {
  if (value >= 0.0 && std::isfinite(value)) return;
  throw Error(ErrorCode::invalid_argument, std::string(option) + " " + number_text(value) + " is not a number from 0",
              {.option = option});
}
inline void require_from_zero(const char* option, std::int64_t value) {
  if (value >= 0) return;
  throw Error(ErrorCode::invalid_argument, std::string(option) + " " + std::to_string(value) + " is less than 0",
              {.option = option});
}

}  // namespace stope
