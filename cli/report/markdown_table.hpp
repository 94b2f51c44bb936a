// Rows as a table of Markdown, aligned, with escaped pipes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stope::cli {

/// Rows come cell by cell; the first one holds the names. The first thousand rows say how wide the columns are, so that
/// a long table is written as it comes. A column is aligned right if these rows hold nothing but numbers in it.
class MarkdownTable {
 public:
  void text(std::string_view value);
  void number(std::string_view digits);
  void empty() { cells_.push_back({"", Kind::none}); }
  /// Ends a row, and appends what is ready to `out`.
  void end_row(std::string& out);
  /// Appends the rows that were held back.
  void finish(std::string& out);

 private:
  enum class Kind { none, number, text };
  struct Cell {
    std::string text;
    Kind kind = Kind::text;
  };
  using Row = std::vector<Cell>;

  void measure();
  void append(std::string& out, const Row& row) const;

  Row cells_;
  std::vector<Row> held_;  // the names, and the first rows
  bool measured_ = false;
  std::vector<std::size_t> widths_;
  std::vector<bool> right_;
};

}  // namespace stope::cli
