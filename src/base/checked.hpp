// Size arithmetic that cannot wrap: every product or sum of sizes that reaches an allocation goes through here.
#pragma once

#include <cstdint>
#include <string>

#include "stope/error.hpp"

namespace stope::checked {

/// a * b for sizes; throws out_of_memory (the result is always a size someone wants to allocate or address).
inline std::int64_t mul(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product < 0) {
    throw Error(ErrorCode::out_of_memory,
                "size " + std::to_string(a) + " x " + std::to_string(b) + " exceeds the address space");
  }
  return product;
}

/// a + b for sizes; throws out_of_memory.
inline std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum < 0) {
    throw Error(ErrorCode::out_of_memory,
                "size " + std::to_string(a) + " + " + std::to_string(b) + " exceeds the address space");
  }
  return sum;
}

/// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace stope::checked
