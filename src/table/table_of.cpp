// table_of(): a table that shares an array's memory or copies it (stope/table_builder.hpp).
#include <memory>
#include <string>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "device/gpu_array.hpp"
#include "stope/error.hpp"
#include "stope/table_builder.hpp"
#include "table/array_columns.hpp"

namespace stope {
namespace {

// The values are never written to: Buffer hands out non-const memory only to those who fill it.
template <class T>
Buffer<T> shared_column(const ArrayView& array, std::int64_t column) {
  const T* const first = static_cast<const T*>(array.data) + column * array.column_stride;
  return Buffer<T>::borrow(const_cast<T*>(first), array.n_rows, std::const_pointer_cast<void>(array.owner));
}

Table shared_table(const ArrayView& array, const ArrayOrigin& origin, std::int64_t budget) {
  require_memory(checked::mul(array.n_columns, kColumnBytes), budget, origin.source);
  Table table;
  table.n_rows = array.n_rows;
  table.columns.reserve(static_cast<std::size_t>(array.n_columns));
  for (std::int64_t c = 0; c < array.n_columns; ++c) {
    table.columns.push_back(array.type == ElementType::float32
                                ? column_of(origin.name(c), shared_column<float>(array, c))
                                : column_of(origin.name(c), shared_column<double>(array, c)));
  }
  return table;
}

}  // namespace

Table table_of(const ArrayView& values, const std::vector<std::string>& names, const RunOptions& run) try {
  ArrayView array = checked_array(values);
  if (!names.empty() && static_cast<std::int64_t>(names.size()) != array.n_columns) {
    Place place;
    place.option = "names";
    throw Error(ErrorCode::invalid_argument,
                std::to_string(names.size()) + " names for " + std::to_string(array.n_columns) + " columns", place);
  }
  if (array.gpu >= 0) {
    device::check_gpu_array(array, "the array", run);
    array = device::copy_to_host(array, "the array", run);
  }
  const ArrayOrigin origin{"", [&](std::int64_t column) {
                             return names.empty() ? "x" + std::to_string(column)
                                                  : names[static_cast<std::size_t>(column)];
                           }};
  const bool side_by_side = array.row_stride == 1 || array.n_rows <= 1;
  const bool shared = side_by_side && array.owner != nullptr && !is_integer(array.type);
  const std::int64_t budget = memory_budget(run);
  Table table = shared ? shared_table(array, origin, budget) : numeric_table(array, origin, budget, run);
  table.validate();
  return table;
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
