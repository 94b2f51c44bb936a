// Tables of numbers: every figure has one behind it, and some stand for themselves.
#pragma once

#include <string>
#include <vector>

#include "page/markup.hpp"

namespace stope::cli::page {

enum class Cell { text, number };

struct DataTable {
  std::string caption;
  std::vector<std::string> heads;
  std::vector<Cell> cells;                     ///< one per column; the first column names its row
  std::vector<std::vector<std::string>> rows;  ///< texts as in_quotes() and number() make them
};

void write_table(Markup& out, const DataTable& table);
/// The same, folded up until the reader opens it. Nothing for a table without rows.
void write_folded_table(Markup& out, const DataTable& table, const std::string& summary = "Numbers");

}  // namespace stope::cli::page
