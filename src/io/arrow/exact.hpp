// Numbers of Arrow as doubles: what has an exact counterpart, and what is rounded once.
#pragma once

#include <cstdint>
#include <optional>

namespace stope::io::arrow {

/// A half-precision number (IEEE 754 binary16) from its bits. Every one is a float.
float half_to_float(std::uint16_t bits);

/// count / units_per_day, rounded once: the same instant gives the same number in every unit.
double days_of(std::int64_t count, std::int64_t units_per_day);

/// The number of units whose days_of is `days` to the bit, if there is one.
std::optional<std::int64_t> units_of(double days, std::int64_t units_per_day);

/// A decimal number of `bytes` bytes (4, 8, 16, 32; little-endian, two's complement) times 10^-scale, as the nearest
/// double, as reading its text would give. Nothing where that would lose digits: whole numbers beyond 2^53, and others
/// of more than 15 digits.
std::optional<double> decimal_to_double(const unsigned char* number, int bytes, int scale);

}  // namespace stope::io::arrow
