// Cells as text, for the CSV and ARFF writers.
#pragma once

#include <cstdint>
#include <string>

#include "io/arff_date.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// How the numbers of a column are spelled.
enum class Spelling { real, integer, date, date_time, date_millis, date_micros };

/// Dates are ISO text, with as many decimals of the second as some row needs, if no row loses anything (years 0 to
/// 9999, at most six decimals); else numbers.
Spelling spelling_of(const Column& column);

/// Appends a number that is not missing, so that reading it gives the same double.
void append_cell(std::string& out, double value, Spelling spelling);

/// The name of a nominal cell that is not missing; throws invalid_argument for a code outside the column's values.
const std::string& value_name(const Column& column, std::int64_t row);

}  // namespace stope::io
