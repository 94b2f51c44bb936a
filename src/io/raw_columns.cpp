#include "io/raw_columns.hpp"

#include <string>

#include "table/array_columns.hpp"

namespace stope::io {

std::int64_t table_budget(const Bytes& file, const RunOptions& run) {
  // The default budget is a share of the memory that is free now, so it already excludes what the file holds.
  return memory_budget(run) - (run.memory_limit > 0 ? file.held : 0);
}

Table table_of(const ArrayView& array, const Bytes& file, const RunOptions& run) {
  const ArrayOrigin origin{file.name, [](std::int64_t column) { return std::to_string(column + 1); }};
  return numeric_table(array, origin, table_budget(file, run), run);
}

}  // namespace stope::io
