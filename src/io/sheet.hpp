// Sheets of workbooks (XLSX, XLSM, ODS) to tables, through the plug-in for files. It gives a sheet as the text of a CSV
// file whose records are the sheet's rows, so that both have the same header, types and missing values.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/bytes.hpp"
#include "stope/io.hpp"

namespace stope::io {

/// Reads the sheet that the options name. ReadOptions::skip_lines are rows of the sheet. Lines in messages are its
/// rows, from 1. Throws what read_csv throws, and invalid_data for a damaged workbook or a sheet that is not there,
/// unsupported without the plug-in and for a locked workbook, out_of_memory before more than the budget is unpacked.
Table read_sheet(const Bytes& workbook, const ReadOptions& options, const Schema* schema, const RunOptions& run);

/// The row of a cell in the sheet, as the line of a place; 0 if there is no such cell.
Place place_in_sheet(const Bytes& workbook, const ReadOptions& options, const Schema* schema, std::int64_t row,
                     std::string_view feature, const RunOptions& run);

/// Whether content begins as a workbook does.
bool begins_workbook(std::string_view content);

}  // namespace stope::io
