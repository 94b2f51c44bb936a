// The files that a command line names.
#pragma once

namespace CLI {
class App;
}

namespace stope::cli {

/// Throws invalid_argument, before anything is read, where an output has no name or a suffix that does not fit what is
/// written, or where it is one of the inputs or another output, also by another name.
void check_paths(const CLI::App& command);

}  // namespace stope::cli
