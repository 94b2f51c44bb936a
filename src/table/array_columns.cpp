#include "table/array_columns.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/memory.hpp"
#include "base/thread_pool.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope {
namespace {

// The cache lines of 64 rows that hold a column fit a 32 KiB first-level cache. They are still there for the columns
// that follow, whatever the width of the table.
constexpr std::int64_t kTileRows = 64;
// Elements that a task moves: so many that handing out tasks costs nothing, so few that cancelling takes milliseconds.
constexpr std::int64_t kTaskElements = std::int64_t{1} << 20;
constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53;

/// Whether float32 holds every value of the type.
constexpr bool fits_float32(ElementType type) {
  return type == ElementType::float32 || size_of(type) <= 2;
}

// Where values come from and go to, for the messages.
struct Job {
  const ArrayView& array;
  const std::vector<ColumnTarget>& targets;
  std::int64_t begin;  // entry of the targets for row 0
  const ArrayOrigin& origin;
};

Place place_of(const Job& job, std::int64_t row, std::int64_t column) {
  Place place;
  place.feature = job.origin.name(column);
  place.row = job.origin.first_row + row;
  return place;
}

[[noreturn]] void refuse_integer(const Job& job, std::int64_t value, std::int64_t row, std::int64_t column) {
  const std::string source = job.origin.source.empty() ? "" : job.origin.source + ": ";
  throw Error(ErrorCode::unsupported,
              source + "row " + std::to_string(job.origin.first_row + row) + ", column " + std::to_string(column + 1) +
                  ": the int64 " + std::to_string(value) + " is beyond 2^53 and has no exact float64",
              place_of(job, row, column));
}

template <class T>
[[noreturn]] void refuse_code(const Job& job, T value, std::int64_t n_values, std::int64_t row, std::int64_t column) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  throw Error(ErrorCode::invalid_argument,
              "column '" + job.origin.name(column) + "', row " + std::to_string(job.origin.first_row + row) + ": " +
                  std::string(text, end.ptr) + " is not a code of its " + std::to_string(n_values) + " values",
              place_of(job, row, column));
}

// The code that a number is, or kUnseenCode for one that is none.
template <class T>
std::int32_t code_of(T value, std::int64_t n_values) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return kMissingCode;
    // Comparisons in double: the limits of int64 have no exact float.
    if (!(static_cast<double>(value) >= -1.0 && static_cast<double>(value) < static_cast<double>(n_values))) {
      return kUnseenCode;
    }
    const auto code = static_cast<std::int32_t>(value);
    return static_cast<T>(code) == value ? code : kUnseenCode;
  } else {
    const auto code = static_cast<std::int64_t>(+value);  // + since int8 is a number here, no character
    return code >= kMissingCode && code < n_values ? static_cast<std::int32_t>(code) : kUnseenCode;
  }
}

template <class T, class To>
void move_column(const Job& job, std::int64_t begin, std::int64_t end, std::int64_t column, To* to) {
  const ArrayView& array = job.array;
  const auto* const from = static_cast<const char*>(array.data);
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t at = r * array.row_stride + column * array.column_stride;
    T value;
    std::memcpy(&value, from + at * static_cast<std::int64_t>(sizeof value), sizeof value);  // files are not aligned
    if constexpr (std::is_same_v<To, std::int32_t>) {
      const std::int64_t n_values = job.targets[static_cast<std::size_t>(column)].n_values;
      to[job.begin + r] = code_of(value, n_values);
      if (to[job.begin + r] == kUnseenCode) refuse_code(job, value, n_values, r, column);
    } else {
      if constexpr (std::is_same_v<T, std::int64_t>) {
        if (value < -kMaxExactInteger || value > kMaxExactInteger) refuse_integer(job, value, r, column);
      }
      to[job.begin + r] = static_cast<To>(value);
    }
  }
}

// Moves rows [begin, end), 64 at a time.
template <class T>
void move_rows(const Job& job, std::int64_t begin, std::int64_t end) {
  const std::int64_t n_columns = job.array.n_columns;
  for (std::int64_t row = begin; row < end; row += kTileRows) {
    const std::int64_t last = std::min(end, row + kTileRows);
    for (std::int64_t column = 0; column < n_columns; ++column) {
      std::visit([&](auto* to) { move_column<T>(job, row, last, column, to); },
                 job.targets[static_cast<std::size_t>(column)].values);
    }
  }
}

}  // namespace

void move_columns(const ArrayView& array, const std::vector<ColumnTarget>& targets, std::int64_t begin,
                  const ArrayOrigin& origin, const RunOptions& run) {
  if (array.n_columns == 0) return;
  const Job job{array, targets, begin, origin};
  const std::int64_t task_rows = std::max(kTileRows, kTaskElements / array.n_columns / kTileRows * kTileRows);
  const std::int64_t n_tasks = checked::ceil_div(array.n_rows, task_rows);
  with_type(array.type, [&](auto value) {
    ThreadPool pool(n_tasks > 1 ? run.threads : 1);
    pool.parallel_for(n_tasks, run.cancel, [&](std::int64_t task, int) {
      move_rows<decltype(value)>(job, task * task_rows, std::min(array.n_rows, (task + 1) * task_rows));
    });
  });
}

void require_memory(std::int64_t bytes, std::int64_t budget, const std::string& source) {
  // The job that the table is for needs memory, too.
  if (bytes > budget) refuse_memory_from("the table needs", bytes, budget, {source});
}

Table numeric_table(const ArrayView& array, const ArrayOrigin& origin, std::int64_t budget, const RunOptions& run) {
  require_memory(checked::mul(array.n_columns, kColumnBytes), budget, origin.source);
  const bool narrow = fits_float32(array.type);
  const std::int64_t row_bytes = checked::mul(array.n_columns, narrow ? 4 : 8);
  ColumnMemory memory(storage_within(checked::mul(row_bytes, array.n_rows), budget), array.n_rows, array.n_columns,
                      row_bytes);
  const ValueType type = is_integer(array.type) ? ValueType::integer : ValueType::real;
  Table table;
  table.source = origin.source;
  table.n_rows = array.n_rows;
  table.columns.reserve(static_cast<std::size_t>(array.n_columns));
  std::vector<ColumnTarget> targets;
  targets.reserve(static_cast<std::size_t>(array.n_columns));
  const auto add = [&](std::int64_t column, auto buffer) {
    targets.push_back({buffer.data()});
    table.columns.push_back({origin.name(column), type, Role::regular, std::move(buffer), {}});
  };
  for (std::int64_t c = 0; c < array.n_columns; ++c) {
    narrow ? add(c, memory.take<float>()) : add(c, memory.take<double>());
  }
  move_columns(array, targets, 0, origin, run);
  return table;
}

}  // namespace stope
