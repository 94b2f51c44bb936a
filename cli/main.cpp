// The stope program. It finds the command, runs it, and turns every failure into one line on stderr and an exit code.
#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "arguments/help_text.hpp"
#include "arguments/parse_error.hpp"
#include "commands/command.hpp"
#include "interrupt.hpp"
#include "report/output.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"
#include "stope/version.hpp"

namespace stope::cli {
namespace {

constexpr const char* kFooter =
    "'stope COMMAND --help' shows the options of a command, 'stope help metrics' the measures.\n"
    "Data go to stdout or to -o FILE, everything else to stderr; '-' reads stdin.\n";

int fail(ErrorCode code, std::string_view message) {
  fmt::print(stderr, "stope: {}\n", one_line(message));
  return exit_code(code);
}

class Program {
 public:
  Program() : app_("exact nearest neighbours and data mining on tables", "stope") {
    app_.require_subcommand(0, 1);
    app_.set_version_flag("--version", "stope " + std::string(version()), "Print the version and exit");
    app_.footer(kFooter);
    for (const auto add :
         {add_info,      add_stats, add_knn,   add_classify,   add_regress,    add_evaluate, add_pairwise,
          add_normalize, add_pca,   add_lsq,   add_discretize, add_tree,       add_predict,  add_convert,
          add_gen,       add_ata,   add_check, add_device,     add_completion, add_help}) {
      commands_.push_back(add(app_));
      CLI::App& app = *commands_.back()->app;
      app.set_help_flag("-h,--help", "Print this help and exit")->group("Common options");
    }
  }

  int run(const std::vector<std::string>& words, const CancelToken& cancel) {
    if (words.empty()) {
      fmt::print(stderr, "{}", help_text(app_));
      return exit_code(ErrorCode::invalid_argument);
    }
    try {
      require_command(app_, words.front());
      parse(app_, words);
    } catch (const CLI::CallForHelp&) {
      write_text("-", help_text(parsed_app()));
      return 0;
    } catch (const CLI::CallForVersion& version) {
      write_text("-", std::string(version.what()) + "\n");
      return 0;
    }
    for (const auto& command : commands_) {
      if (!command->app->parsed()) continue;
      Session session(command->app->get_name(), command->common, cancel);
      command->run(session);
      cancel.check();
      session.finish();
      return command->exit_code();
    }
    return 0;
  }

 private:
  const CLI::App& parsed_app() const {
    for (const auto& command : commands_) {
      if (command->app->parsed()) return *command->app;
    }
    return app_;
  }

  CLI::App app_;
  std::vector<std::unique_ptr<Command>> commands_;
};

int run_program(int argc, char** argv) {
  const CancelToken cancel;
  stop_on_interrupt(cancel);
  try {
    return Program().run(std::vector<std::string>(argv + 1, argv + argc), cancel);
  } catch (const BrokenPipe&) {
    // The reader of our output has seen enough (| head). That is no failure, unless the user interrupted the pipe.
    return cancel.cancelled() ? exit_code(ErrorCode::cancelled) : 0;
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    return fail(ErrorCode::internal, std::string("internal error: ") + error.what());
  }
}

}  // namespace
}  // namespace stope::cli

int main(int argc, char** argv) {
  return stope::cli::run_program(argc, argv);
}
