// The arithmetic of CRC-64/XZ, and its two kernels. A state is the remainder of all bytes so far, a polynomial over
// bits in the reflected order: the highest bit of the number is the coefficient of x^0.
#pragma once

#include <cstdint>
#include <string_view>

namespace stope::model {

inline constexpr std::uint64_t kCrcPolynomial = 0xc96c5795d7870f42;  // 0x42f0e1eba9ea3693 reflected

constexpr std::uint64_t crc_times_x(std::uint64_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? kCrcPolynomial : 0);
}

/// The product of two remainders.
constexpr std::uint64_t crc_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  for (; a != 0; a <<= 1, b = crc_times_x(b)) product ^= (a >> 63) != 0 ? b : 0;
  return product;
}

/// The remainder of x^n.
constexpr std::uint64_t crc_power_of_x(std::uint64_t n) {
  std::uint64_t power = std::uint64_t{1} << 63, square = power >> 1;
  for (; n != 0; n >>= 1, square = crc_product(square, square)) {
    if ((n & 1) != 0) power = crc_product(power, square);
  }
  return power;
}

/// The state after `bytes`, from the state before them. Eight table look-ups take eight bytes.
std::uint64_t crc_by_table(std::uint64_t state, std::string_view bytes);

/// The same by carry-less multiplication, many times as fast. Only for CPUs with simd::has_clmul().
std::uint64_t crc_by_clmul(std::uint64_t state, std::string_view bytes);

}  // namespace stope::model
