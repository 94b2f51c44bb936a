// Statistics of nominal columns: how often every value occurs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

/// The n codes of a column: all, or those of `rows`.
struct CodeSource {
  const Column* column = nullptr;
  std::int64_t n = 0;
  const std::int64_t* rows = nullptr;
  bool sparse = false;     ///< count only the values that occur; `rows` must be there
  std::int32_t only = -1;  ///< a code that all n rows have, so that they need not be read; -1: not known

  std::int64_t n_values() const { return static_cast<std::int64_t>(column->values.size()); }
};

/// Fills in rows, count, missing, counts, codes and distinct of every column. Codes of whole columns are checked in the
/// same pass (table/check_table.hpp); those of `rows` must have been.
void count_values(const std::vector<CodeSource>& sources, const RunOptions& run, ThreadPool& pool,
                  std::vector<ColumnStatistics*>& columns);

}  // namespace stope::stats
