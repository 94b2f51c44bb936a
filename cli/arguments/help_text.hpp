// Help as text. It is made from the commands as CLI11 holds them, as are the man pages, so neither can be stale.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stope::cli {

/// The program's overview, or the help of one command.
std::string help_text(const CLI::App& app);

/// How to choose a measure, in a few sentences.
std::string metrics_advice();

/// The advice, and the measures with their parameters and formulas.
std::string metrics_text();

/// The commands of the program, in the order of the overview; hidden ones left out.
std::vector<const CLI::App*> commands_of(const CLI::App& program);

/// The parts of a command: arguments, groups of options in the order of the help, the options of a group.
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);
std::vector<std::string> groups_of(const CLI::App& app);
std::vector<const CLI::Option*> options_of(const CLI::App& app, const std::string& group);

/// What a command does, in sentences.
std::string details_of(const CLI::App& app);

/// "stope knn TRAIN [QUERY] [options]".
std::string usage_of(const CLI::App& app);

/// The command's line in the overview.
std::string summary_of(const CLI::App& command);

/// "-k, --n-neighbors K".
std::string option_title(const CLI::Option& option);

}  // namespace stope::cli
