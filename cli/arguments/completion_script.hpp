// Completion scripts for shells, made from the commands as CLI11 holds them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace stope::cli {

std::string bash_completion(const CLI::App& program);
std::string zsh_completion(const CLI::App& program);
std::string fish_completion(const CLI::App& program);

}  // namespace stope::cli
