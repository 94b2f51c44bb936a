// ArrayView: numbers in memory that the caller has, as every job takes them. Any of ten element types, any strides, in
// the host's memory or in a GPU's.
//
//   ArrayView{x, ElementType::float32, n}                        one column of n values
//   ArrayView{x, ElementType::float64, rows, columns}            a row-major matrix (C order)
//   ArrayView{x, ElementType::float64, rows, columns, 1, rows}   a column-major matrix (Fortran order)
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#pragma GCC visibility push(default)
namespace stope {

/// The type of an array's elements, in the machine's byte order. A boolean is one byte, 0 or 1; jobs compute with it as
/// with a uint8.
enum class ElementType : std::int32_t { float64, float32, int8, int16, int32, int64, uint8, uint16, uint32, boolean };

/// The type's name as in this header, e.g. "float64".
std::string_view to_string(ElementType type) noexcept;

/// Bytes of one element.
constexpr std::int64_t size_of(ElementType type) noexcept {
  switch (type) {
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean: return 1;
    case ElementType::int16:
    case ElementType::uint16: return 2;
    case ElementType::float32:
    case ElementType::int32:
    case ElementType::uint32: return 4;
    case ElementType::float64:
    case ElementType::int64: break;
  }
  return 8;
}

/// Whether the elements are whole numbers; booleans are.
constexpr bool is_integer(ElementType type) noexcept {
  return type != ElementType::float64 && type != ElementType::float32;
}

/// A rectangle of numbers: element (row, column) lies at data[row * row_stride + column * column_stride], counted in
/// elements. Strides may be negative; then `data` is still the address of element (0, 0), which is not the lowest. An
/// array without elements may have no data. In floating-point arrays NaN is a missing value.
///
/// Errors of every job that takes one: invalid_argument for a negative size, for no data and for data that is not
/// aligned to its type; out_of_memory for sizes and strides that exceed the address space.
struct ArrayView {
  const void* data = nullptr;  ///< of element (0, 0)
  ElementType type = ElementType::float64;
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 1;
  std::int64_t row_stride = 0;     ///< elements from one row to the next; 0 = n_columns
  std::int64_t column_stride = 1;  ///< elements from one column to the next; 0 repeats one column

  /// Where the memory is: -1 = the host's, else the number of a GPU, as in GpuInfo::index.
  int gpu = -1;
  /// GPU: jobs read the array after all that this stream (a cudaStream_t) has queued. Null is the default stream.
  void* stream = nullptr;

  /// Empty: the job reads the array before it returns, and copies what it needs later. Afterwards the memory may change
  /// or go.
  /// Set: what the job returns may refer to the memory itself, and shares the owner as long as it does. The caller
  /// promises that nobody writes to the memory while the owner lives. A later change would make answers wrong without
  /// an error, since jobs keep what they have derived from the values.
  std::shared_ptr<const void> owner = {};
};

}  // namespace stope
#pragma GCC visibility pop
