// Splits the command line with CLI11 and words its refusals: one line, with the nearest name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stope::cli {

/// Throws invalid_argument, with the nearest name, unless `word` is a command or an option of the program itself.
void require_command(const CLI::App& program, const std::string& word);

/// Parses the words behind the program's name. Throws stope::Error{invalid_argument}; CLI11's calls for help and
/// version pass through.
void parse(CLI::App& program, const std::vector<std::string>& words);

}  // namespace stope::cli
