// Rows of a table as text, for programs that send a table in pieces.
#pragma once

#include <string>
#include <string_view>

#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// csv: records as write_table writes them. json_arrays: `[1.0,"x",null],[...]`. json_objects:
/// `{"a":1.0,"b":"x"},{...}`. JSON has commas between rows and nothing around them: the caller writes the brackets.
enum class RowText { csv, json_arrays, json_objects };

RowText row_text(std::string_view name);  ///< throws invalid_argument for any other name

/// Appends the rows of a table. Numbers are the shortest text that reads back as the same double, dates are ISO text.
/// A missing value is an empty field in CSV and null in JSON. JSON has no infinity: it becomes "Infinity" or
/// "-Infinity" in quotes. Throws cancelled, and invalid_argument for a code outside its column's values. O(rows x
/// columns).
void append_rows(std::string& out, const Table& table, RowText text, const RunOptions& run = {});

/// Appends the record of column names with which CSV begins.
void append_csv_header(std::string& out, const Table& table);

/// The unit of ISO dates and times.
enum class DateUnit { none, day, second, millisecond, microsecond };

/// The coarsest unit in which every date of a column reads back as the same number; none if no unit does, and for a
/// column of another type. O(rows).
DateUnit date_unit(const Column& column);

/// Appends a date as ISO text. False, and nothing is appended, if the text would not read back as the same number.
bool append_date(std::string& out, double days, DateUnit unit);

}  // namespace stope
#pragma GCC visibility pop
