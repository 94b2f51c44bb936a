// Splits the command line with CLI11. Each of its refusals becomes one line, which suggests the nearest name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "stope/error.hpp"

namespace stope::cli {

/// Throws invalid_argument, suggesting the nearest name, unless `word` is a command or an option of the program itself.
void require_command(const CLI::App& program, const std::string& word);

/// Parses the words after the program's name. Throws invalid_argument. CLI11's own exceptions for help and version pass
/// through.
void parse(CLI::App& program, const std::vector<std::string>& words);

/// The error with the name of its option as the words have it: --n-jobs for -j. An option at the front of the message
/// becomes part of the error's place.
Error as_typed(const Error& error, const CLI::App& app, const std::vector<std::string>& words);

}  // namespace stope::cli
