// Constants of the vector kernels. Among them are the byte shuffles that right-align the digits of a short decimal in a
// 16-byte register and drop its point.
#pragma once

#include <array>
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

}  // namespace stope::io::csv
