// The stope program. It finds the command, runs it, and turns every failure into one line on stderr and an exit code.
#include <algorithm>
#include <exception>
#include <new>

#include "arguments/help_text.hpp"
#include "arguments/option.hpp"
#include "arguments/parse_error.hpp"
#include "arguments/paths.hpp"
#include "commands/command.hpp"
#include "interrupt.hpp"
#include "report/output.hpp"
#include "standard_streams.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"

namespace stope::cli {
namespace {

constexpr const char* kFooter =
    "'stope COMMAND --help' shows the options of a command, 'stope help TOPIC' a topic; man stope-COMMAND.\n"
    "Data go to stdout or to -o FILE, everything else to stderr; '-' reads stdin.\n";

int fail(const Error& error, const std::vector<std::string>& words) {
  try {
    write_to_stderr("stope: " + message_line(error.what()) + "\n");
    // The words may be those that could not be parsed.
    if (std::find(words.begin(), words.end(), "--json") != words.end()) print_json(error);
  } catch (const std::bad_alloc&) {
    write_to_stderr("stope: out of memory\n");
  } catch (const Error&) {
    return exit_code(error.code());  // nobody reads the object
  }
  return exit_code(error.code());
}

// Writes the object of --json; false if the user interrupted that. Then a part of the object may have been written, so
// the one that tells of an error must not follow.
bool finish(Session& session, const CancelToken& cancel) {
  try {
    session.finish();
  } catch (const Error&) {
    if (!cancel.cancelled()) throw;
  }
  if (!cancel.cancelled()) return true;
  write_to_stderr("stope: cancelled\n");
  return false;
}

class Program {
 public:
  Program() : app_("exact nearest neighbours and data mining on tables", "stope") {
    app_.require_subcommand(0, 1);
    add_version_flag(app_, "");
    app_.footer(kFooter);
    for (const auto add :
         {add_info,   add_stats, add_knn,   add_classify,   add_regress,    add_evaluate, add_pairwise, add_normalize,
          add_impute, add_pca,   add_lsq,   add_discretize, add_tree,       add_predict,  add_chain,    add_convert,
          add_gen,    add_ata,   add_check, add_device,     add_completion, add_help}) {
      commands_.push_back(add(app_));
      CLI::App& app = *commands_.back()->app;
      app.set_help_flag("-h,--help", "Print this help and exit")->group("Common options");
    }
  }

  int run(const std::vector<std::string>& words, const CancelToken& cancel) {
    if (words.empty()) {
      write_to_stderr(help_text(app_));
      return exit_code(ErrorCode::invalid_argument);
    }
    try {
      require_command(app_, words.front());
      parse(app_, words.front() == "version" ? std::vector<std::string>{"--version"} : words);
      check_paths(parsed_app());
    } catch (const CLI::CallForHelp&) {
      write_text("-", help_text(parsed_app()));
      return 0;
    } catch (const CLI::CallForVersion& version) {
      write_text("-", version.what());
      return 0;
    }
    for (const auto& command : commands_) {
      if (!command->app->parsed()) continue;
      Session session(command->app->get_name(), command->common, cancel);
      try {
        command->run(session);
      } catch (const BrokenPipe&) {
        throw;
      } catch (const Error& error) {
        throw session.explained(error);
      }
      cancel.check();
      return finish(session, cancel) ? command->exit_code() : exit_code(ErrorCode::cancelled);
    }
    return 0;
  }

  /// The command that the words name, or the program itself.
  const CLI::App& parsed_app() const {
    for (const auto& command : commands_) {
      if (command->app->parsed()) return *command->app;
    }
    return app_;
  }

 private:
  CLI::App app_;
  std::vector<std::unique_ptr<Command>> commands_;
};

int run_program(int argc, char** argv) {
  const CancelToken cancel;
  stop_on_interrupt(cancel);
  std::vector<std::string> words;
  try {
    words.assign(argv + 1, argv + argc);
    Program program;
    try {
      return program.run(words, cancel);
    } catch (const BrokenPipe&) {
      throw;
    } catch (const Error& error) {
      throw as_typed(error, program.parsed_app(), words);
    }
  } catch (const BrokenPipe&) {
    // The reader of our output has seen enough (| head). That is no failure, unless the user interrupted the pipe.
    return cancel.cancelled() ? exit_code(ErrorCode::cancelled) : 0;
  } catch (...) {
    const Error error = error_of(std::current_exception());
    // An interrupted system call fails with EINTR, and a job that stops may leave others short of their data.
    return fail(cancel.cancelled() ? Error(ErrorCode::cancelled, "cancelled") : error, words);
  }
}

}  // namespace
}  // namespace stope::cli

int main(int argc, char** argv) {
  if (!stope::cli::open_standard_streams()) return stope::exit_code(stope::ErrorCode::io);
  return stope::cli::run_program(argc, argv);
}
