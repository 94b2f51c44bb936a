#include "io/sample_rows.hpp"

#include <vector>

#include "base/checked.hpp"
#include "base/random.hpp"
#include "stope/error.hpp"
#include "table/column_memory.hpp"

namespace stope::io {

Table sample_rows(Table table, std::int64_t n, std::uint64_t seed, const RunOptions& run) {
  if (n < 0) {
    throw Error(ErrorCode::invalid_argument,
                "sample is " + std::to_string(n) + ", and a number of rows is not negative", {.option = "sample"});
  }
  if (n == 0 || n >= table.n_rows) return table;
  // Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S): one pass, rows in order.
  std::vector<std::int64_t> rows;
  rows.reserve(static_cast<std::size_t>(n));
  Random random(seed);
  for (std::int64_t row = 0; std::ssize(rows) < n; ++row) {
    const auto left = static_cast<std::uint64_t>(table.n_rows - row);
    if (random.below(left) < static_cast<std::uint64_t>(n - std::ssize(rows))) rows.push_back(row);
    if (row % 65536 == 0) run.cancel.check();
  }
  const std::int64_t bytes = checked::mul(checked::mul(n, std::ssize(table.columns)), std::int64_t{sizeof(double)});
  Table sample = table.take(rows, storage_within(bytes, memory_budget(run)));
  sample.source = table.source;
  return sample;
}

}  // namespace stope::io
