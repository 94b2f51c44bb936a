// What is checked of the weight of a row, in the same words by every job.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "base/number_text.hpp"
#include "stope/error.hpp"

namespace stope {

/// Throws invalid_data unless a weight is finite and at least 0. `source` and `column` say where it stands.
inline void require_row_weight(double weight, const std::string& source, const std::string& column, std::int64_t row) {
  if (weight >= 0.0 && !std::isinf(weight)) return;
  std::string text = "missing";
  if (!std::isnan(weight)) text = number_text(weight);
  throw Error(ErrorCode::invalid_data,
              "column '" + column + "', row " + std::to_string(row) + ": the weight is " + text +
                  "; weights are finite and >= 0",
              {.file = source, .feature = column, .row = row});
}

}  // namespace stope
