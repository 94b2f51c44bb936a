// Quantiles of columns: order statistics by counting values, without sorting a column. Long columns are counted by
// their leading bits, short ones by equal parts of their range.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "stats/source.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

inline constexpr std::int64_t kMostQuantiles = 1000;

/// Throws invalid_argument for shares outside [0, 1], and for more than kMostQuantiles of them.
void check_quantiles(const std::vector<double>& shares);

/// Between the order statistics at (count - 1) * share, as NumPy's method "linear" does; NaN for no value. `below` and
/// `above` are the values at positions floor and floor + 1.
double interpolated(double below, double above, double fraction);

/// Fills in `quantiles` of every column from its source. The values that are copied at a time take a part of `budget`
/// bytes at most.
void add_quantiles(const std::vector<Source>& sources, const std::vector<double>& shares, std::int64_t budget,
                   const CancelToken& cancel, ThreadPool& pool, std::vector<ColumnStatistics*>& columns);

}  // namespace stope::stats
