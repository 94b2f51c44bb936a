// The files that one path stands for: a folder's, or those that match a pattern.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stope::io {

/// The files of a table of several files, in natural order; empty if `path` is one file (or none: opening it says so).
/// A folder stands for its files, a pattern with * ? [...] {a,b} that is no file's name for those that match it. Names
/// that begin with . are left out, and names that begin with _ too, unless the pattern says so. Throws io if there is
/// no such file, and unsupported for a folder within the folder.
std::vector<std::string> parts_of(const std::string& path);

/// Whether a comes before b if runs of digits count as numbers: part2 before part10. Equal numbers go by bytes.
bool naturally_before(std::string_view a, std::string_view b);

}  // namespace stope::io
