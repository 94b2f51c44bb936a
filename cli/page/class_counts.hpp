// How many rows of each class fall into each bin or value of one column: what histograms by class are drawn from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/classes.hpp"
#include "stope/run.hpp"
#include "stope/stats.hpp"
#include "stope/table.hpp"

namespace stope::cli::page {

struct ClassCounts {
  bool nominal = false;
  bool whole = false;                             ///< numeric: each bin is one whole number, in its middle
  double low = 0, high = 0;                       ///< numeric: the ends of all bins together
  std::vector<std::string> values;                ///< nominal: the values shown, the most frequent first, then the rest
  std::int64_t n_rest = 0;                        ///< nominal: values that share the last line
  std::vector<std::vector<std::int64_t>> counts;  ///< [group of classes][bin or value]
  std::vector<std::int64_t> missing;              ///< [group of classes]

  std::size_t n_bins() const { return counts.empty() ? 0 : counts.front().size(); }
  std::int64_t total(std::size_t group) const;
  std::int64_t in_bin(std::size_t bin) const;
};

/// Counts the column's rows; `label` may be null, and then all rows are one group. Rows without a label are left out.
/// Bins have equal width between the column's least and greatest finite value. O(rows).
ClassCounts count_classes(const Column& column, const ColumnStatistics& statistics, const Column* label,
                          const ClassList& classes, const RunOptions& run);

}  // namespace stope::cli::page
