// The man pages: stope(1), stope-COMMAND(1) for each command, stope-measures(7).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace stope::cli {

/// "stope.1", "stope-knn.1", ..., "stope-measures.7".
std::vector<std::string> man_page_names(const CLI::App& program);

/// A page in roff. stope.1 comes without its prose, which docs/man/stope.1.in holds: the list of commands, the options
/// that commands share, and the help topics. Throws invalid_argument for another name.
std::string man_page(const CLI::App& program, const std::string& name);

}  // namespace stope::cli
