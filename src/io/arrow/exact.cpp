#include "io/arrow/exact.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "io/number.hpp"

namespace stope::io::arrow {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53;
// Every decimal number of 15 digits survives the way to double and back.
constexpr std::int64_t kMostDigits = 1'000'000'000'000'000;
// The powers of ten that are doubles: dividing by them rounds once.
constexpr std::array<double, 23> kTens{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// The low 64 bits of a decimal if they hold all of it.
std::optional<std::int64_t> low_word(const unsigned char* number, int bytes) {
  if (bytes == 4) {
    std::int32_t value = 0;
    std::memcpy(&value, number, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, number, sizeof value);
  const unsigned char sign = value < 0 ? 0xFF : 0;
  for (int i = 8; i < bytes; ++i) {
    if (number[i] != sign) return std::nullopt;
  }
  return value;
}

// The whole number of a decimal without the zeros at its end, and how many there were. A decimal of 128 or 256 bits may
// have them beyond 64 bits.
struct Digits {
  std::int64_t value;
  int zeros;
};
std::optional<Digits> significant_digits(const unsigned char* number, int bytes) {
  if (const std::optional<std::int64_t> word = low_word(number, bytes); word.has_value()) {
    Digits digits{*word, 0};
    while (digits.value != 0 && digits.value % 10 == 0) {
      digits.value /= 10;
      ++digits.zeros;
    }
    return digits;
  }
  std::array<std::uint32_t, 8> words{};  // the magnitude, least significant word first
  const auto n_words = static_cast<std::size_t>(bytes / 4);
  std::memcpy(words.data(), number, static_cast<std::size_t>(bytes));
  const bool negative = (words[n_words - 1] >> 31) != 0;
  if (negative) {
    std::uint64_t carry = 1;
    for (std::size_t i = 0; i < n_words; ++i) {
      carry += static_cast<std::uint32_t>(~words[i]);
      words[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  for (int zeros = 1;; ++zeros) {
    std::uint64_t rest = 0;
    for (std::size_t i = n_words; i-- > 0;) {
      const std::uint64_t part = rest << 32 | words[i];
      words[i] = static_cast<std::uint32_t>(part / 10);
      rest = part % 10;
    }
    if (rest != 0) return std::nullopt;  // significant digits beyond 64 bits
    bool large = words[1] >> 31 != 0;
    for (std::size_t i = 2; i < n_words; ++i) large = large || words[i] != 0;
    if (large) continue;
    Digits digits{static_cast<std::int64_t>(std::uint64_t{words[1]} << 32 | words[0]), zeros};
    while (digits.value != 0 && digits.value % 10 == 0) {
      digits.value /= 10;
      ++digits.zeros;
    }
    if (negative) digits.value = -digits.value;
    return digits;
  }
}

}  // namespace

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits} >> 15 << 31;
  const std::uint32_t exponent = (bits >> 10) & 0x1F;
  const std::uint32_t fraction = bits & 0x3FF;
  if (exponent == 0) {  // zero and subnormal numbers: fraction * 2^-24
    const float value = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 0x1F ? 0xFF : exponent + (127 - 15);
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

double days_of(std::int64_t count, std::int64_t units_per_day) {
  const std::uint64_t size = magnitude(count);
  if (size <= static_cast<std::uint64_t>(kMaxExactInteger)) {
    return static_cast<double>(count) / static_cast<double>(units_per_day);
  }
  // Beyond 2^53 the count itself would be rounded. A quotient with 64 bits behind the point has more bits than a
  // double, so that its conversion rounds once; its last bit says whether anything is left over.
  const Wide shifted = Wide{size} << 64;
  const auto divisor = static_cast<Wide>(units_per_day);
  const Wide quotient = shifted / divisor | (shifted % divisor != 0 ? 1 : 0);
  const double days = std::ldexp(static_cast<double>(quotient), -64);
  return count < 0 ? -days : days;
}

std::optional<std::int64_t> units_of(double days, std::int64_t units_per_day) {
  const double units = std::nearbyint(days * static_cast<double>(units_per_day));
  if (!(std::fabs(units) < 0x1p63) || (days == 0 && std::signbit(days))) return std::nullopt;
  const auto count = static_cast<std::int64_t>(units);
  if (days_of(count, units_per_day) != days) return std::nullopt;
  return count;
}

std::optional<double> decimal_to_double(const unsigned char* number, int bytes, int scale) {
  const std::optional<Digits> digits = significant_digits(number, bytes);
  if (!digits.has_value()) return std::nullopt;
  if (digits->value == 0) return 0.0;
  const int places = scale - digits->zeros;
  const std::uint64_t size = magnitude(digits->value);
  if (places > 0) {
    if (size >= static_cast<std::uint64_t>(kMostDigits)) return std::nullopt;
  } else {
    std::uint64_t whole = size;
    for (int i = places; i < 0 && whole <= static_cast<std::uint64_t>(kMaxExactInteger); ++i) whole *= 10;
    if (whole > static_cast<std::uint64_t>(kMaxExactInteger)) return std::nullopt;
  }
  if (places >= 0 && places < static_cast<int>(kTens.size())) {
    return static_cast<double>(digits->value) / kTens[static_cast<std::size_t>(places)];
  }
  double value = 0;
  parse_number(std::to_string(digits->value) + "e" + std::to_string(-places), value);
  return value;
}

}  // namespace stope::io::arrow
