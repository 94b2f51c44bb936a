// Constants of the vector kernels. Among them are the byte shuffles that right-align the digits of a short decimal in a
// 16-byte register and drop its point.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stope::io::csv {

/// entries[length][point]: `length` 0..16 characters, the point at `point` (= length: none). A byte of 0x80 gives zero,
/// so that the register holds up to 16 digits with leading zeros. 4.6 KB: it stays in the first-level cache.
struct ShuffleTable {
  alignas(16) std::uint8_t entries[17][17][16];
};

constexpr ShuffleTable make_shuffle_table() {
  ShuffleTable table{};
  for (int length = 0; length <= 16; ++length) {
    for (int point = 0; point <= 16; ++point) {
      int source = length - 1;
      for (int j = 15; j >= 0; --j) {
        if (source == point) --source;
        table.entries[length][point][j] = source >= 0 ? static_cast<std::uint8_t>(source) : 0x80;
        if (source >= 0) --source;
      }
    }
  }
  return table;
}

inline constexpr ShuffleTable kShuffleTable = make_shuffle_table();

struct ByteNumbers {
  alignas(64) std::uint8_t numbers[64];
};

constexpr ByteNumbers make_byte_numbers() {
  ByteNumbers result{};
  for (int i = 0; i < 64; ++i) result.numbers[i] = static_cast<std::uint8_t>(i);
  return result;
}

/// 0, 1, ... 63: compressed by a mask, they are the positions of its bits.
inline constexpr ByteNumbers kByteNumbers = make_byte_numbers();

/// Powers of ten that a double holds exactly. A quotient of two exact numbers is correctly rounded (Clinger, How to
/// read floating point numbers accurately, PLDI 1990).
inline constexpr std::array<double, 17> kPowersOfTen = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                                        1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/// The whole powers of ten that 64 bits hold, but for the last two.
inline constexpr std::array<std::uint64_t, 18> kWholePowers = [] {
  std::array<std::uint64_t, 18> powers{};
  std::uint64_t power = 1;
  for (std::uint64_t& one : powers) {
    one = power;
    power *= 10;
  }
  return powers;
}();

/// 10^-q is between significand * 2^exponent and (significand + 1) * 2^exponent, and the significand has 64 bits.
struct InversePower {
  std::uint64_t significand;
  std::int32_t exponent;
};

/// For q of 1 to 31: the quotient's bits, one by one.
constexpr std::array<InversePower, 32> make_inverse_powers() {
  __extension__ using Wide = unsigned __int128;
  std::array<InversePower, 32> powers{};
  Wide divisor = 1;
  for (int q = 1; q < 32; ++q) {
    divisor *= 10;
    Wide rest = 1;
    std::uint64_t significand = 0;
    std::int32_t n_bits = 0;  // behind the point
    while ((significand >> 63) == 0) {
      rest *= 2;
      const bool bit = rest >= divisor;
      if (bit) rest -= divisor;
      significand = significand << 1 | (bit ? 1U : 0U);
      ++n_bits;
    }
    powers[static_cast<std::size_t>(q)] = {significand, -n_bits};
  }
  return powers;
}
inline constexpr std::array<InversePower, 32> kInversePowers = make_inverse_powers();

}  // namespace stope::io::csv
