// Numbers and names as the page shows them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "stope/table.hpp"

namespace stope::cli::page {

/// What a number that there is not counts as; it is shown as "–".
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// 32561 -> "32,561".
std::string grouped(std::int64_t n);
/// "1 row", "32,561 rows"; `many` is the plural if it is not the word with an s.
std::string grouped(std::int64_t n, const std::string& one, const std::string& many = "");
/// 0.8314 -> "83.1 %"; a share that is neither none nor all never reads 0.0 or 100.0. "–" for NaN.
std::string percent(double share);
/// Four significant digits without an exponent where that is readable; "–" for NaN.
std::string number(double value);
/// A value of a column: a date as a date, a whole number whole.
std::string value_of_type(ValueType type, double value);
/// A cut of a column, with as many digits as it needs between two whole numbers, else six.
std::string cut_number(ValueType type, double cut);
/// "0.012", "≤ 0.001".
std::string p_value(double p, double least);
/// These two enclose a name within a sentence. No name holds them, since cut_off() spells control characters out.
inline constexpr char kNameBegins = '\x02', kNameEnds = '\x03';
/// A name between quotation marks, cut off where it is very long. Markup::text() isolates its direction of writing.
std::string in_quotes(std::string_view name);
/// The same without quotation marks, for cells of tables.
std::string as_name(std::string_view name);
/// At most `most` characters: "…" stands for the end of a longer text. Wide characters count as two.
std::string cut_off(std::string_view text, std::size_t most);
/// The text with blanks at which no line breaks.
std::string unbroken(std::string text);
/// "a, b and c".
std::string list_of(const std::vector<std::string>& items);

}  // namespace stope::cli::page
