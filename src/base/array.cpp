#include "base/array.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"
#include "stope/error.hpp"

namespace stope {

std::string_view to_string(ElementType type) noexcept {
  switch (type) {
    case ElementType::float64: return "float64";
    case ElementType::float32: return "float32";
    case ElementType::int8: return "int8";
    case ElementType::int16: return "int16";
    case ElementType::int32: return "int32";
    case ElementType::int64: return "int64";
    case ElementType::uint8: return "uint8";
    case ElementType::uint16: return "uint16";
    case ElementType::uint32: return "uint32";
    case ElementType::boolean: break;
  }
  return "boolean";
}

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(ErrorCode::invalid_argument, text);
}

// (n - 1) * stride elements, the distance of the last row or column from the first. Throws if it exceeds the address
// space.
std::int64_t reach(std::int64_t n, std::int64_t stride) {
  if (n <= 1) return 0;
  if (stride == INT64_MIN) (void)checked::mul(n, INT64_MAX);  // it has no absolute value
  const std::int64_t length = checked::mul(n - 1, stride < 0 ? -stride : stride);
  return stride < 0 ? -length : length;
}

}  // namespace

ArrayView checked_array(const ArrayView& array, std::string_view what) {
  const std::string name(what);
  if (array.type < ElementType::float64 || array.type > ElementType::boolean) {
    refuse(name + ": there is no element type " + std::to_string(static_cast<std::int32_t>(array.type)));
  }
  if (array.n_rows < 0 || array.n_columns < 0) {
    refuse(name + " cannot have " + std::to_string(array.n_rows) + " rows and " + std::to_string(array.n_columns) +
           " columns");
  }
  ArrayView result = array;
  if (result.row_stride == 0) result.row_stride = array.n_columns > 0 ? array.n_columns : 1;
  // Nobody takes a step from a single row or column, so that any stride may be given; sums with it could overflow. A
  // row whose values lie apart is one of a column-major array.
  if (array.n_columns <= 1 || array.n_rows == 0) result.column_stride = 1;
  if (array.n_rows <= 1 || array.n_columns == 0) {
    result.row_stride = result.column_stride == 1 ? std::max<std::int64_t>(array.n_columns, 1) : 1;
  }
  const ByteRange range = bytes_of(result);
  if (range.size == 0) return result;
  if (array.data == nullptr) refuse(name + " has no data");
  if (array.gpu < 0 &&
      reinterpret_cast<std::uintptr_t>(array.data) % static_cast<std::uintptr_t>(size_of(array.type))) {
    refuse(name + ": its data is not aligned to the " + std::to_string(size_of(array.type)) + " bytes of a " +
           std::string(to_string(array.type)));
  }
  return result;
}

ByteRange bytes_of(const ArrayView& array) {
  if (array.n_rows == 0 || array.n_columns == 0) return {};
  const std::int64_t rows = reach(array.n_rows, array.row_stride);
  const std::int64_t columns = reach(array.n_columns, array.column_stride);
  const auto below = [](std::int64_t length) { return length < 0 ? -length : std::int64_t{0}; };
  const auto above = [](std::int64_t length) { return length > 0 ? length : std::int64_t{0}; };
  const std::int64_t size = size_of(array.type);
  const std::int64_t before = checked::mul(checked::add(below(rows), below(columns)), size);
  const std::int64_t from = checked::mul(checked::add(checked::add(above(rows), above(columns)), 1), size);
  return {-before, checked::add(before, from)};
}

}  // namespace stope
