// Checks of the arrays that a caller hands in (stope/array.hpp), for every job that takes them.
#pragma once

#include <cstdint>
#include <string_view>

#include "stope/array.hpp"

namespace stope {

/// Returns the array with the row stride that it has: never 0. A stride that no step takes may be anything; it comes
/// back as that of a dense array of the same order. Throws invalid_argument for an unknown type, for a negative size,
/// for no data and, in the host's memory, for data that is not aligned; out_of_memory for sizes and strides that exceed
/// the address space. `what` names the array in the message, e.g. "the array".
ArrayView checked_array(const ArrayView& array, std::string_view what = "the array");

/// Bytes from the lowest to the highest address of an array: `size` bytes from data + `first`, which is at most 0.
struct ByteRange {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

/// The array's row stride must not be 0, unless it stands for itself.
ByteRange bytes_of(const ArrayView& array);

/// Calls work(T{}) with the C++ type of an element. A boolean is read as a uint8.
template <class Work>
auto with_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::float32: return work(float{});
    case ElementType::int8: return work(std::int8_t{});
    case ElementType::int16: return work(std::int16_t{});
    case ElementType::int32: return work(std::int32_t{});
    case ElementType::int64: return work(std::int64_t{});
    case ElementType::uint8:
    case ElementType::boolean: return work(std::uint8_t{});
    case ElementType::uint16: return work(std::uint16_t{});
    case ElementType::uint32: return work(std::uint32_t{});
    case ElementType::float64: break;
  }
  return work(double{});
}

}  // namespace stope
