// What a path holds, before it is read as a table: the files of a folder or a pattern, the sheets of a workbook.
#pragma once

#include <string>
#include <vector>

#include "stope/run.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// The files that read_table takes for `path`, in order; empty where it is one file, or none. Throws io where a pattern
/// fits no file, and for a folder without files.
std::vector<std::string> files_of(const std::string& path);

/// A sheet of a workbook; the first one that is shown is read where ReadOptions::sheet names none.
struct SheetName {
  std::string name;
  bool shown = true;
};

/// The sheets of a workbook, in order. Throws what read_table throws for it.
std::vector<SheetName> sheets_of(const std::string& path, const RunOptions& run = {});

}  // namespace stope
#pragma GCC visibility pop
