// Arrays of every element type with any strides, for the tests of tables made of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/random.hpp"
#include "stope/buffer.hpp"

namespace stope::array_cases {

inline constexpr ElementType kTypes[] = {
    ElementType::float64, ElementType::float32, ElementType::int8,   ElementType::int16,  ElementType::int32,
    ElementType::int64,   ElementType::uint8,   ElementType::uint16, ElementType::uint32, ElementType::boolean};

/// The value at (row, column), which the element type holds and no narrower one: 0 or 1, or up to 100 of them; negative
/// and NaN where there are such.
inline double value_at(ElementType type, std::int64_t row, std::int64_t column) {
  const auto mixed = static_cast<std::uint64_t>(row * 1009 + column * 31 + 7) * 0x9e3779b97f4a7c15ULL >> 40;
  const auto small = static_cast<double>(mixed % 101);
  if (type == ElementType::boolean) return static_cast<double>(mixed % 2);
  const double wide = size_of(type) >= 4 ? 16777259 : 1;  // no float32 has its odd multiples
  if (type == ElementType::uint8 || type == ElementType::uint16 || type == ElementType::uint32) return small * wide;
  if (is_integer(type)) return (small - 50) * wide;
  return mixed % 13 == 0 ? std::nan("") : (small - 50) / (type == ElementType::float64 ? 7 : 8);
}

/// An array filled with value_at(), and the memory that it is in. Bytes between the elements are 0xee.
struct Filled {
  ArrayView array;
  Buffer<char> memory;
};

inline Filled filled(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                     std::int64_t column_stride, std::int64_t first_row = 0) {
  Filled made;
  made.array = {nullptr, type, rows, columns, row_stride, column_stride};
  const ByteRange range = bytes_of(made.array);
  made.memory = Buffer<char>(range.size);
  std::memset(made.memory.data(), 0xee, static_cast<std::size_t>(range.size));
  char* const origin = made.memory.data() - range.first;
  made.array.data = origin;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      with_type(type, [&](auto zero) {
        const auto value = static_cast<decltype(zero)>(value_at(type, first_row + r, c));
        std::memcpy(origin + (r * row_stride + c * column_stride) * size_of(type), &value, sizeof value);
      });
    }
  }
  return made;
}

/// Whether two numbers are the same, a missing one too.
inline bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace stope::array_cases
