// The codes of RunOptions::warn: what a job says of data or answers that are probably not what was meant.
#pragma once

#include <string_view>

namespace stope::warning {

/// The range of one feature is at least 100 times that of another, the data are not normalised, and the measure adds
/// their differences as they are.
inline constexpr std::string_view kRangesApart = "ranges_apart";
/// Least squares: features depend linearly on each other, so the coefficients are one choice among many.
inline constexpr std::string_view kRankDeficient = "rank_deficient";
/// Labels that the model has never seen: such rows count as errors.
inline constexpr std::string_view kUnknownLabels = "unknown_labels";
/// Statistics by class: rows without a class are in no class.
inline constexpr std::string_view kRowsWithoutClass = "rows_without_class";
/// Reading: whether the first record holds names or data was a close guess. ReadOptions::header decides.
inline constexpr std::string_view kHeaderGuessed = "header_guessed";
/// Reading: no separator was found, but the lines have equally many fields apart by blanks.
inline constexpr std::string_view kOneColumn = "one_column";
/// Reading: a column of whole numbers that no double holds, or that begin with a zero, is nominal, as it is spelled.
inline constexpr std::string_view kKeptAsSpelled = "kept_as_spelled";
/// Reading: such numbers in a column that was declared numeric, numbers beyond the range of double, and numbers of more
/// than 17 significant digits; they were rounded, or lost their zeros.
inline constexpr std::string_view kDigitsLost = "digits_lost";
/// Reading: a nominal column would be one of numbers or dates but for a few cells.
inline constexpr std::string_view kNearlyNumeric = "nearly_numeric";
/// Reading: a column stays text, but its values look like numbers with marks between thousands
/// (ReadOptions::thousands).
inline constexpr std::string_view kThousandsMarks = "thousands_marks";
/// Reading: a column stays text, but its values look like numbers with percent or currency signs, or like dates that do
/// not begin with the year.
inline constexpr std::string_view kUnreadSigns = "unread_signs";
/// Reading: commas were taken for decimal marks.
inline constexpr std::string_view kDecimalCommas = "decimal_commas";
/// Reading: times with an offset from UTC were converted to UTC.
inline constexpr std::string_view kOffsetsDropped = "offsets_dropped";
/// Imputation: the fitted table has no value of a column, so that its missing values stay.
inline constexpr std::string_view kLeftMissing = "left_missing";
/// Reading: the first record has a name for one column alone, and may be a title above the table.
inline constexpr std::string_view kTitle = "title";
/// Reading: columns without a value in any row.
inline constexpr std::string_view kNoValues = "no_values";
/// Reading: records had fewer or more fields than the first one, and ReadOptions::allow_ragged says to take them.
inline constexpr std::string_view kRaggedRecords = "ragged_records";
/// Classification: the label has many classes, all of them numbers.
inline constexpr std::string_view kManyClasses = "many_classes";
/// Reading a table with a label: features with a value of their own in nearly every row, such as texts and ids.
inline constexpr std::string_view kRowKeys = "row_keys";

}  // namespace stope::warning
