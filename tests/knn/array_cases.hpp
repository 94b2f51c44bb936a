// Random arrays of every element type and every way to lie in memory, each with the table of the same numbers.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/array.hpp"
#include "base/random.hpp"
#include "stope/table.hpp"

namespace stope::array_cases {

/// How an array's elements lie. Gaps between them hold other values.
enum class Layout { rows, rows_apart, columns, columns_apart, backwards, every_other };
inline constexpr int kLayouts = 6;
inline constexpr int kElementTypes = 10;

struct ArrayCase {
  std::shared_ptr<std::vector<char>> memory;
  ArrayView view;
  Table table;  ///< columns x0, x1, ... of doubles
};

/// Returns a value that every type holds exactly where `type` does: few distinct ones, so that distances tie.
inline double random_element(Random& random, ElementType type) {
  switch (type) {
    case ElementType::boolean: return static_cast<double>(random.below(2));
    case ElementType::int8: return static_cast<double>(random.below(256)) - 128.0;
    case ElementType::uint32: return static_cast<double>(random.below(std::uint64_t{1} << 32));
    case ElementType::int64: return static_cast<double>(random.below(std::uint64_t{1} << 54)) - 0x1p53;
    case ElementType::float64: break;
    case ElementType::float32: break;
    default: return static_cast<double>(random.below(100));
  }
  if (random.below(10) == 0) return std::nan("");
  const double value = random.below(2) == 0 ? static_cast<double>(random.below(4)) : random.uniform() - 0.5;
  return type == ElementType::float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

inline ArrayCase random_array(Random& random, std::int64_t n_rows, std::int64_t n_columns, ElementType type,
                              Layout layout) {
  ArrayCase made;
  ArrayView& view = made.view;
  view = {.type = type, .n_rows = n_rows, .n_columns = n_columns};
  std::int64_t first = 0;
  switch (layout) {
    case Layout::rows: view.row_stride = n_columns; break;
    case Layout::rows_apart: view.row_stride = n_columns + 3; break;
    case Layout::columns: view.row_stride = 1, view.column_stride = n_rows; break;
    case Layout::columns_apart: view.row_stride = 1, view.column_stride = n_rows + 2; break;
    case Layout::backwards:
      view.row_stride = -n_columns, view.column_stride = -1;
      first = n_rows * n_columns - 1;
      break;
    case Layout::every_other: view.row_stride = 2 * n_columns, view.column_stride = 2; break;
  }
  const std::int64_t size = 2 * (n_rows + 2) * (n_columns + 3);
  with_type(type, [&](auto element) {
    using T = decltype(element);
    made.memory = std::make_shared<std::vector<char>>(static_cast<std::size_t>(size) * sizeof(T), '\x55');
    auto* const values = reinterpret_cast<T*>(made.memory->data()) + first;
    view.data = values;
    made.table.n_rows = n_rows;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      std::vector<double> column;
      for (std::int64_t r = 0; r < n_rows; ++r) {
        column.push_back(random_element(random, type));
        values[r * view.row_stride + c * view.column_stride] = static_cast<T>(column.back());
      }
      made.table.columns.push_back(make_numeric("x" + std::to_string(c), column));
    }
  });
  return made;
}

}  // namespace stope::array_cases
