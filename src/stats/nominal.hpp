// Statistics of nominal columns: how often every value occurs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

/// The n codes of a column: the first n, or those of `rows`.
struct CodeSource {
  const std::int32_t* codes = nullptr;
  std::int64_t n = 0;
  std::int64_t n_values = 0;
  const std::int64_t* rows = nullptr;
};

/// Fills in rows, count, missing, counts and distinct of every column.
void count_values(const std::vector<CodeSource>& sources, const CancelToken& cancel, ThreadPool& pool,
                  std::vector<ColumnStatistics*>& columns);

}  // namespace stope::stats
