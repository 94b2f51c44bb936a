// Columns one behind the other, as they go to a GPU (device/staging.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "discretize/problem.hpp"

namespace stope::discretize {

/// Bytes of an attribute's values.
constexpr std::int64_t bytes_of(AttributeForm form, std::int64_t n_rows) {
  return n_rows * (form == AttributeForm::float64 ? 8 : 4);
}

/// Writes bytes [at, at + n) of attributes of one type, as they lie one behind the other.
void write_columns(const DecisionProblem& problem, std::span<const std::int64_t> attributes, std::int64_t at,
                   std::int64_t n, char* to);

}  // namespace stope::discretize
