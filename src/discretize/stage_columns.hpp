// Columns one behind the other, as they go to a GPU (device/staging.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "discretize/problem.hpp"

namespace stope::discretize {

/// Bytes of an attribute's values.
std::int64_t bytes_of(const Attribute& attribute, std::int64_t n_rows);

/// Writes bytes [at, at + n) of attributes of one type, as they lie one behind the other.
void write_columns(const DecisionProblem& problem, std::span<const std::int64_t> attributes, std::int64_t at,
                   std::int64_t n, char* to);

}  // namespace stope::discretize
