#include "table/array_rows.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "base/array.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr std::int64_t kMostExactInteger = std::int64_t{1} << 53;

template <class T>
double number(T value, std::int64_t row, std::int64_t column) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (value < -kMostExactInteger || value > kMostExactInteger) {
      throw Error(ErrorCode::unsupported,
                  "row " + std::to_string(row) + ", column " + std::to_string(column + 1) + ": the int64 " +
                      std::to_string(value) + " is beyond 2^53 and has no exact float64",
                  {.row = row});
    }
  }
  return static_cast<double>(value);
}

// Whether the columns lie side by side in a row of the array.
bool side_by_side(const ArrayView& array, const std::vector<std::int64_t>& columns) {
  if (columns.empty() || array.column_stride != 1) return false;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (columns[i] != columns[i - 1] + 1) return false;
  }
  return true;
}

// Converts n values that lie side by side. Compilers make vectors of the inner loop. Rows are read once, one after the
// other: an early request helps where the CPU does not see that itself (virtual machines).
template <class T>
void put_run(const T* from, std::int64_t n, std::int64_t row, std::int64_t column, double* out) {
  constexpr std::int64_t kLine = 64 / sizeof(T), kAhead = 2048 / sizeof(T);
  for (std::int64_t first = 0; first < n; first += kLine) {
    __builtin_prefetch(from + first + kAhead);
    const std::int64_t end = std::min(first + kLine, n);
    for (std::int64_t i = first; i < end; ++i) out[i] = number(from[i], row, column + i);
  }
}

}  // namespace

void encode_rows(const ArrayView& array, const std::vector<std::int64_t>& columns, std::int64_t begin, std::int64_t end,
                 double* out, std::int64_t first_row) {
  // A strip of output stays in the cache, whichever way the array lies.
  constexpr std::int64_t kStrip = 128;
  const auto width = static_cast<std::int64_t>(columns.size());
  const bool by_column = std::abs(array.row_stride) < std::abs(array.column_stride);
  const bool in_runs = !by_column && side_by_side(array, columns);
  with_type(array.type, [&](auto type) {
    using T = decltype(type);
    const auto put = [&](std::int64_t row, std::int64_t i) {
      const std::int64_t column = columns[static_cast<std::size_t>(i)];
      const T* const at = static_cast<const T*>(array.data) + row * array.row_stride + column * array.column_stride;
      out[(row - begin) * width + i] = number(*at, first_row + row, column);
    };
    if (in_runs && array.row_stride == width && std::is_floating_point_v<T>) {  // without gaps: one run
      return put_run(static_cast<const T*>(array.data) + begin * width, (end - begin) * width, first_row + begin, 0,
                     out);
    }
    if (in_runs) {
      for (std::int64_t row = begin; row < end; ++row) {
        const T* const from = static_cast<const T*>(array.data) + row * array.row_stride + columns.front();
        put_run(from, width, first_row + row, columns.front(), out + (row - begin) * width);
      }
      return;
    }
    for (std::int64_t strip = begin; strip < end; strip += kStrip) {
      const std::int64_t strip_end = std::min(strip + kStrip, end);
      if (by_column) {
        for (std::int64_t i = 0; i < width; ++i) {
          for (std::int64_t row = strip; row < strip_end; ++row) put(row, i);
        }
      } else {
        for (std::int64_t row = strip; row < strip_end; ++row) {
          for (std::int64_t i = 0; i < width; ++i) put(row, i);
        }
      }
    }
  });
}

bool is_encoded(const ArrayView& array) {
  return array.gpu < 0 && array.type == ElementType::float64 && (array.column_stride == 1 || array.n_columns == 1) &&
         (array.row_stride == array.n_columns || array.n_rows <= 1);
}

}  // namespace stope
