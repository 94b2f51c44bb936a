// Where a cell of a table stands in the text file that the table was read from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/run.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// The file, line and column of the field that became a cell of read_table(path, options), for CSV, TSV and ARFF.
/// `row` counts from 0; `feature` is the column's name (an unknown or empty one stands for the row's begin). Reads the
/// file again up to the row, so call it for a message alone. Only the file is known for other formats, for pipes, and
/// where the file has no such cell by now. Throws what read_table throws.
Place place_of_cell(const std::string& path, const ReadOptions& options, std::int64_t row, std::string_view feature,
                    const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
