// Numbers with marks between groups of three digits: 1,234,567.5.
#pragma once

#include <string>
#include <string_view>

namespace stope::io::csv {

/// Writes `text` without its marks to `plain`. False if it has none, or if they are not well placed: one to three
/// digits that do not begin with a zero, then groups of exactly three, and none behind the decimal mark. A blank as
/// mark stands for no-break spaces (U+00A0, U+202F), too.
bool without_thousands(std::string_view text, char mark, char decimal, std::string& plain);

}  // namespace stope::io::csv
