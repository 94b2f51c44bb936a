// Blocked transposition of arrays into columns (io/raw_columns.hpp).
#include "io/raw_columns.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/checked.hpp"
#include "base/thread_pool.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::io {
namespace {

// A tile of 64 rows x 16 columns reads whole cache lines of every row (16 x 4 bytes) and keeps 16 output lines open.
// Both sides fit a 32 KiB first-level cache, whatever the width of the table.
constexpr std::int64_t kTileRows = 64;
constexpr std::int64_t kTileColumns = 16;
// Elements that a task moves: so many that handing out tasks costs nothing, so few that cancelling takes milliseconds.
constexpr std::int64_t kTaskElements = std::int64_t{1} << 20;
constexpr std::int64_t kMaxExactInteger = std::int64_t{1} << 53;

/// The type of a column's values: float32 if it holds every value of T.
template <class T>
using Kept = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>, float, double>;

template <class T>
void check_exact(T value, std::int64_t row, std::int64_t column, const std::string& name) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    if (value >= -kMaxExactInteger && value <= kMaxExactInteger) return;
    throw Error(ErrorCode::unsupported, name + ": row " + std::to_string(row + 1) + ", column " +
                                            std::to_string(column + 1) + ": the int64 " + std::to_string(value) +
                                            " is beyond 2^53 and has no exact float64");
  }
}

template <class T>
void move_tile(const ArrayView& array, std::int64_t row0, std::int64_t row1, std::int64_t column0, std::int64_t column1,
               const std::vector<Kept<T>*>& columns, const std::string& name) {
  for (std::int64_t c = column0; c < column1; ++c) {
    const char* from = array.data + c * array.column_stride;
    Kept<T>* to = columns[static_cast<std::size_t>(c)];
    for (std::int64_t r = row0; r < row1; ++r) {
      T value;
      std::memcpy(&value, from + r * array.row_stride, sizeof value);  // rows of fvecs files are not aligned
      check_exact(value, r, c, name);
      to[r] = static_cast<Kept<T>>(value);
    }
  }
}

template <class T>
Table convert(const ArrayView& array, Storage storage, const std::string& name, const RunOptions& run) {
  Table table;
  table.source = name;
  table.n_rows = array.n_rows;
  std::vector<Kept<T>*> columns;
  table.columns.reserve(static_cast<std::size_t>(array.n_columns));
  columns.reserve(static_cast<std::size_t>(array.n_columns));
  ColumnMemory memory(storage, array.n_rows, array.n_columns,
                      checked::mul(array.n_columns, std::int64_t{sizeof(Kept<T>)}));
  for (std::int64_t c = 0; c < array.n_columns; ++c) {
    Buffer<Kept<T>> buffer = memory.take<Kept<T>>();
    columns.push_back(buffer.data());
    const ValueType type = std::is_integral_v<T> ? ValueType::integer : ValueType::real;
    table.columns.push_back({std::to_string(c + 1), type, Role::regular, std::move(buffer), {}});
  }

  const std::int64_t task_rows =
      std::max(kTileRows, kTaskElements / std::max<std::int64_t>(array.n_columns, 1) / kTileRows * kTileRows);
  const std::int64_t n_tasks = checked::ceil_div(array.n_rows, task_rows);
  ThreadPool pool(n_tasks > 1 ? run.threads : 1);
  pool.parallel_for(n_tasks, run.cancel, [&](std::int64_t task, int) {
    const std::int64_t end = std::min(array.n_rows, (task + 1) * task_rows);
    for (std::int64_t r = task * task_rows; r < end; r += kTileRows) {
      for (std::int64_t c = 0; c < array.n_columns; c += kTileColumns) {
        move_tile<T>(array, r, std::min(end, r + kTileRows), c, std::min(array.n_columns, c + kTileColumns), columns,
                     name);
      }
    }
  });
  return table;
}

}  // namespace

std::int64_t bytes_of(ArrayType type) {
  switch (type) {
    case ArrayType::int8:
    case ArrayType::uint8: return 1;
    case ArrayType::int16:
    case ArrayType::uint16: return 2;
    case ArrayType::float32:
    case ArrayType::int32:
    case ArrayType::uint32: return 4;
    case ArrayType::float64:
    case ArrayType::int64: break;
  }
  return 8;
}

std::int64_t table_budget(const Bytes& file, const RunOptions& run) {
  // The default budget is a share of the memory that is free now, so it already excludes what the file holds.
  return memory_budget(run) - (run.memory_limit > 0 ? file.held : 0);
}

void require_memory(std::int64_t bytes, const Bytes& file, const RunOptions& run) {
  const std::int64_t budget = table_budget(file, run);
  if (bytes <= budget) return;
  throw Error(ErrorCode::out_of_memory,
              "the table needs " + std::to_string(bytes) + " bytes, the memory limit leaves " + std::to_string(budget),
              {file.name});
}

Table table_of(const ArrayView& array, const Bytes& file, const RunOptions& run) {
  // What a column costs in addition to its values: descriptor, name and the allocator's bookkeeping.
  constexpr std::int64_t kColumnBytes = static_cast<std::int64_t>(sizeof(Column)) + 192;
  require_memory(checked::mul(array.n_columns, kColumnBytes), file, run);
  const bool narrow = array.type == ArrayType::float32 || bytes_of(array.type) <= 2;
  const std::int64_t bytes = checked::mul(checked::mul(array.n_columns, array.n_rows), narrow ? 4 : 8);
  const Storage storage = storage_within(bytes, table_budget(file, run));
  switch (array.type) {
    case ArrayType::float32: return convert<float>(array, storage, file.name, run);
    case ArrayType::float64: return convert<double>(array, storage, file.name, run);
    case ArrayType::int8: return convert<std::int8_t>(array, storage, file.name, run);
    case ArrayType::int16: return convert<std::int16_t>(array, storage, file.name, run);
    case ArrayType::int32: return convert<std::int32_t>(array, storage, file.name, run);
    case ArrayType::int64: return convert<std::int64_t>(array, storage, file.name, run);
    case ArrayType::uint8: return convert<std::uint8_t>(array, storage, file.name, run);
    case ArrayType::uint16: return convert<std::uint16_t>(array, storage, file.name, run);
    case ArrayType::uint32: break;
  }
  return convert<std::uint32_t>(array, storage, file.name, run);
}

}  // namespace stope::io
