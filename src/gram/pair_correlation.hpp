// The correlation of two columns over the rows in which both have a value, by the plainest way: means of these rows,
// then sums of products of what is left.
#pragma once

#include <cstdint>

#include "stope/buffer.hpp"
#include "stope/table.hpp"

namespace stope::gram {

struct PairCorrelation {
  double value;        ///< in [-1, 1]; NaN where it does not exist
  std::int64_t count;  ///< rows
};

/// Pearson's correlation of two numeric columns without infinite values.
PairCorrelation correlate_values(const Column& x, const Column& y);

/// The rows of a numeric column in the order of its values; missing values last.
Buffer<std::int64_t> rows_by_value(const Column& column, Storage storage);

/// Ranks of the rows that count, 0 for the lowest value, from rows_by_value(); equal values share their mean rank. Rows
/// whose value in `other` is missing do not count, and get NaN as missing values do. `ranks` has room for all rows.
void rank_rows(const Column& column, const Buffer<std::int64_t>& order, const Column* other, double* ranks);

}  // namespace stope::gram
