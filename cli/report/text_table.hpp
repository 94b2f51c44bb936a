// Aligned columns of words and numbers for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stope::cli {

enum class Align { left, right };

class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The rows, with two blanks between columns and `indent` blanks in front. Long cells are cut, except in the last
  /// column.
  std::string text(std::size_t indent) const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The number of code points of a UTF-8 text; wide and combining characters count as one each.
std::size_t width_of(std::string_view text);

/// "1 cut", "8 cuts"; `many` is the plural if it is not the word with an s.
std::string counted(std::int64_t n, const std::string& one, const std::string& many = "");

/// Four decimals, "-" for NaN.
std::string format_score(double value);
/// Five significant digits, "-" for NaN.
std::string format_value(double value);

}  // namespace stope::cli
