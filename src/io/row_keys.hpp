// Features that tell rows apart and nothing else: names, texts, numbers of rows.
#pragma once

#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// Warns once (warning::kRowKeys) of the features of a table with a label that have a value of their own in nearly
/// every row: nominal ones, and where the label is nominal whole numbers that count the rows. O(rows) for such a
/// column, less for any other.
void warn_of_row_keys(const Table& table, const RunOptions& run);

}  // namespace stope::io
