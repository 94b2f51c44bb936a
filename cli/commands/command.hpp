// A command of the program: its options and its work.
#pragma once

#include <memory>
#include <string>

#include "arguments/run_arguments.hpp"
#include "report/session.hpp"

namespace CLI {  // CLI11 takes ten seconds to compile: only the files that deal with it include it
class App;
}

namespace stope::cli {

class Command {
 public:
  virtual ~Command() = default;
  virtual void run(Session& session) = 0;
  /// The exit code of a run that succeeded.
  virtual int exit_code() const { return 0; }

  CLI::App* app = nullptr;
  RunArguments common;

 protected:
  /// Adds the command to the program; derived constructors add their options, then call add_common(). The summary is
  /// the command's line in the overview; the details open its own help.
  Command(CLI::App& program, const std::string& name, const std::string& summary, const std::string& details);
  void add_common(const std::string& examples);
  /// The number of times that the option was given.
  std::size_t count(const std::string& option) const;
};

std::unique_ptr<Command> add_info(CLI::App& program);
std::unique_ptr<Command> add_stats(CLI::App& program);
std::unique_ptr<Command> add_knn(CLI::App& program);
std::unique_ptr<Command> add_classify(CLI::App& program);
std::unique_ptr<Command> add_regress(CLI::App& program);
std::unique_ptr<Command> add_pairwise(CLI::App& program);
std::unique_ptr<Command> add_evaluate(CLI::App& program);
std::unique_ptr<Command> add_normalize(CLI::App& program);
std::unique_ptr<Command> add_impute(CLI::App& program);
std::unique_ptr<Command> add_pca(CLI::App& program);
std::unique_ptr<Command> add_lsq(CLI::App& program);
std::unique_ptr<Command> add_discretize(CLI::App& program);
std::unique_ptr<Command> add_tree(CLI::App& program);
std::unique_ptr<Command> add_predict(CLI::App& program);
std::unique_ptr<Command> add_chain(CLI::App& program);
std::unique_ptr<Command> add_convert(CLI::App& program);
std::unique_ptr<Command> add_gen(CLI::App& program);
std::unique_ptr<Command> add_ata(CLI::App& program);
std::unique_ptr<Command> add_check(CLI::App& program);
std::unique_ptr<Command> add_device(CLI::App& program);
std::unique_ptr<Command> add_completion(CLI::App& program);
std::unique_ptr<Command> add_help(CLI::App& program);

}  // namespace stope::cli
