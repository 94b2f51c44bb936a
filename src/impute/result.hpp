// The result of an imputation: the table's columns, those with missing values copied so that they can be filled in.
#pragma once

#include <cstdint>
#include <vector>

#include "base/name_index.hpp"
#include "impute/fitted.hpp"
#include "stope/table.hpp"

namespace stope::impute {

class ResultTable {
 public:
  /// Matches the columns that are filled in. Throws invalid_data for a feature that the table lacks, and for a column
  /// that is nominal here and numeric there.
  ResultTable(const Fitted& fitted, const Table& table);

  /// Copies the columns in which a value is missing, and adds the indicators. `n_missing`: per filled column.
  void copy_columns(const std::vector<std::int64_t>& n_missing, const RunOptions& run);
  /// Bytes that the copies need in memory.
  std::int64_t bytes_in_memory() const { return bytes_in_memory_; }

  /// The table's column of a filled column; null where the table lacks it.
  const Column* given(std::int64_t filled) const { return sources_[static_cast<std::size_t>(filled)]; }
  /// The result's column of a filled column that the table has.
  const Column& column(std::int64_t filled) const { return result_.columns[place(filled)]; }

  /// Fills in a number or a training code, and returns what the result holds: a rounded number, or its own code.
  double put(std::int64_t filled, std::int64_t row, double value);

  /// The result. Columns of integers become reals where a number that is not whole was filled in.
  Table take();

 private:
  std::size_t place(std::int64_t filled) const {
    return static_cast<std::size_t>(places_[static_cast<std::size_t>(filled)]);
  }
  void add_indicators(const RunOptions& run);

  const Fitted& fitted_;
  const Table& table_;
  NameIndex names_;  // of the table's columns
  Table result_;
  std::vector<const Column*> sources_;
  std::vector<std::int64_t> places_;
  std::vector<std::vector<std::int32_t>> codes_;  // per filled column: the result's code of each training code
  std::vector<char> whole_days_;                  // per filled column: a date without a time of day
  std::int64_t bytes_in_memory_ = 0;
};

}  // namespace stope::impute
