// The second look at the values: histograms, and how many different values there are.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "stats/source.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

inline constexpr std::int64_t kMostBins = 65536;

/// Fills in `histogram` of every column from its source.
void add_histograms(const std::vector<Source>& sources, std::int64_t bins, const CancelToken& cancel, ThreadPool& pool,
                    std::vector<ColumnStatistics*>& columns);

/// Fills in `distinct`, with hash tables that together stay within `budget` bytes. Columns with too many values are
/// read several times, each time for a share of the values.
void count_distinct(const std::vector<Source>& sources, std::int64_t budget, const CancelToken& cancel,
                    ThreadPool& pool, std::vector<ColumnStatistics*>& columns);

}  // namespace stope::stats
