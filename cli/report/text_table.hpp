// Aligned columns of words and numbers for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/table.hpp"

namespace stope::cli {

enum class Align { left, right };

class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The rows, with two blanks between columns and `indent` blanks in front. Long cells are cut on a
  /// terminal, except in the last column; a file or a pipe gets them whole.
  std::string text(std::size_t indent) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The number of code points of a UTF-8 text; wide and combining characters count as one each.
std::size_t width_of(std::string_view text);

/// "1 cut", "8 cuts"; `many` is the plural if it is not the word with an s.
std::string counted(std::int64_t n, const std::string& one, const std::string& many = "");

/// The name of a type for people: "nominal" also for RapidMiner's polynominal.
std::string type_text(ValueType type);

/// A value of a column of that type: a date as 2024-02-29 (with its time of day, if it has one), a whole number whole,
/// another one with six significant digits.
std::string value_text(ValueType type, double value);

/// Four decimals, "-" for NaN.
std::string format_score(double value);
/// Five significant digits, "-" for NaN.
std::string format_value(double value);

}  // namespace stope::cli
