// Statistics of very many columns in about 100 bytes a column beside their quantiles and counts. ColumnStatistics takes
// 500: for tables of millions of columns, more than the table.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "stope/stats.hpp"

namespace stope::cli {

/// The statistics of the columns of one table. They have no integers and no codes, which only arrays and classes of
/// rows have.
class PackedStatistics {
 public:
  /// Describes the columns of the table, some at a time. The options ask for no classes of rows.
  PackedStatistics(std::shared_ptr<const Table> table, const StatsOptions& options, const RunOptions& run);

  const Table& table() const { return *table_; }
  const StatsReport& report() const { return report_; }
  std::int64_t size() const { return static_cast<std::int64_t>(table_->columns.size()); }
  /// As describe() gives them for a table.
  ColumnStatistics at(std::int64_t column) const;

 private:
  struct Packed {
    std::int64_t count, missing, zeros, min_row, max_row, distinct;  // distinct: -1 for none
    double min, max, sum, mean, variance, deviation, skewness, low, high;
    bool has_histogram;
    std::int32_t n_quantiles;
    std::int64_t quantiles_begin, counts_begin, counts_end;  // in the block
  };
  struct Block {
    std::vector<Packed> columns;
    std::vector<double> quantiles;
    std::vector<std::int64_t> counts;  // of nominal values, or of a histogram's bins
  };
  static Block packed(const std::vector<ColumnStatistics>& columns);

  std::shared_ptr<const Table> table_;
  StatsReport report_;
  std::vector<Block> blocks_;
};

/// Columns from which stope stats packs what it finds; also how many it describes at a time.
inline constexpr std::int64_t kPackedColumns = std::int64_t{1} << 16;

}  // namespace stope::cli
