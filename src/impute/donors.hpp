// The donors of missing values: the nearest training rows that have the column.
//
// Nearly always the donors are among the first few neighbours of a row, whatever the column. So one search serves all
// columns. Rows for which it found too few take a second one with longer lists. What is then still open is searched for
// among the rows that have the column.
#pragma once

#include <cstdint>
#include <vector>

#include "impute/fitted.hpp"

namespace stope::impute {

/// Rows with missing values, and the values that they lack, row by row.
struct Receivers {
  std::vector<std::int64_t> rows = {};      ///< of the table
  std::vector<std::int64_t> offsets = {0};  ///< row i lacks the cells [offsets[i], offsets[i + 1])
  std::vector<std::int32_t> columns = {};   ///< per cell: a place in Fitted::columns()

  std::int64_t n_rows() const { return static_cast<std::int64_t>(rows.size()); }
  std::int64_t n_cells() const { return static_cast<std::int64_t>(columns.size()); }
};

/// The donors of the cells of some receivers: list i has counts[i] entries from i * width on, nearest first.
struct DonorLists {
  std::int64_t width = 0;
  std::vector<std::int64_t> counts = {};
  std::vector<std::int64_t> rows = {};
  std::vector<double> distances = {};
};

/// How the searches went, over all blocks.
struct DonorCounts {
  std::int64_t first_list = 0, second_search = 0, column_search = 0;
  SearchReport search = {};  ///< of the search with the most pairs
};

/// Bytes that the lists of one cell take.
constexpr std::int64_t bytes_of_list(std::int64_t n_neighbors) {
  return n_neighbors * static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(double)) + 64;
}

/// Finds the donors. `rows` are the receivers' features as the index takes them. `first` runs the search for all
/// columns and tells its progress, `rest` the others.
DonorLists find_donors(const Fitted& fitted, const Receivers& receivers, const Table& rows, const RunOptions& first,
                       const RunOptions& rest, DonorCounts& counts);

}  // namespace stope::impute
