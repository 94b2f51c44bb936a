// Text whose fields are apart by blanks: any number of spaces and tabs.
#pragma once

#include <cstdint>

#include "io/csv/text.hpp"

namespace stope::io::csv {

/// Makes every run of blanks between two fields of a line one separator ' ' after tabs, and those at a line's ends
/// tabs. The grammar, told that ' ' separates, takes these tabs off; all bytes keep their places. Quoted fields and
/// comments stay as they are. Throws out_of_memory if the text has to be copied and exceeds `budget` bytes.
void join_blanks(Text& text, char comment, std::int64_t budget);

/// The number of fields apart by blanks, if it is the same, and at least 2, in each of the first lines that has any,
/// and some fields are numbers; else 0.
std::int64_t fields_apart_by_blanks(const Text& text, char comment);

}  // namespace stope::io::csv
