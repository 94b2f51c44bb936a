// Commands that a reader of the page can copy, quoted for a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "page/markup.hpp"

namespace stope::cli::page {

/// The word as a POSIX shell reads it back.
std::string shell_word(std::string_view word);
std::string shell_line(const std::vector<std::string>& words);
/// "stope COMMAND TABLE OPTION...".
std::string command_line(const std::string& command, const std::string& table, const std::vector<std::string>& options);
/// "To repeat this:" and the command. Nothing for an empty one.
void write_command(Markup& out, const std::string& command);

}  // namespace stope::cli::page
