// Help as text and as a man page. Both are made from the commands as CLI11 holds them, so that neither can be stale.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stope::cli {

/// The program's overview, or the help of one command.
std::string help_text(const CLI::App& app);

/// The section COMMANDS of the man page, in roff.
std::string man_commands(const CLI::App& program);

/// The measures, their parameters and formulas.
std::string metrics_text();

/// The commands of the program, in the order of the overview; hidden ones left out.
std::vector<const CLI::App*> commands_of(const CLI::App& program);

/// The command's line in the overview.
std::string summary_of(const CLI::App& command);

/// "-k, --n-neighbors K".
std::string option_title(const CLI::Option& option);

}  // namespace stope::cli
