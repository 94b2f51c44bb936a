#include "commands/command.hpp"

#include <CLI/CLI.hpp>

namespace stope::cli {

Command::Command(CLI::App& program, const std::string& name, const std::string& summary, const std::string& details)
    : app(program.add_subcommand(name, summary + "\n" + details)) {}

void Command::add_common(const std::string& examples) {
  common.add_to(*app);
  app->footer(examples);
}

std::size_t Command::count(const std::string& option) const {
  return app->count(option);
}

}  // namespace stope::cli
