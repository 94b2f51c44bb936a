// Text of unknown origin, such as a name in a table, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

namespace stope {

/// Control characters as \xNN: they would break a line, and a terminal would obey them.
std::string escape_controls(std::string_view text);

}  // namespace stope
