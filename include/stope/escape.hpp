// Text of unknown origin, such as a name in a table, made fit to be shown.
#pragma once

#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace stope {

/// What would break a line, or what a terminal would obey, as \xNN: control characters (C0, DEL, C1), the marks that
/// change the direction of writing, line and paragraph separators, and bytes that are no UTF-8.
std::string escape_controls(std::string_view text);

}  // namespace stope
#pragma GCC visibility pop
