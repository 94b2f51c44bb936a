// The texts of nominal columns that hardly repeat, row by row. To hash each of them takes longer than to sort them all
// when the file has been read, since the look-ups wait for memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "io/csv/dictionary.hpp"

namespace stope::io::csv {

/// The code of a row whose text is kept, until the values have their order: no dictionary gives it.
inline constexpr std::int32_t kKeptText = INT32_MIN;

/// Memory for the texts of each column, from the first row that keeps its own. Shared between threads.
class RowTexts {
 public:
  /// `least`: distinct values from which on a column may keep texts; 0 = as suits the rows.
  RowTexts(std::size_t n_columns, std::int64_t n_rows, std::int64_t least);

  /// Whether a dictionary that has met `n_values` in `n_rows` rows should be used no more. A column whose values each
  /// have more than some 30 rows never does.
  bool suits(std::int64_t n_values, std::int64_t n_rows) const { return n_values >= least_ && 2 * n_values > n_rows; }

  /// The texts of a column by row, without data where a row has kept none. Null where memory is short.
  std::string_view* begin(std::size_t column, MemoryMeter& meter);
  /// Those that there are, all rows or none.
  std::span<const std::string_view> of(std::size_t column) const;

 private:
  std::int64_t n_rows_, least_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<void>> columns_;
};

}  // namespace stope::io::csv
