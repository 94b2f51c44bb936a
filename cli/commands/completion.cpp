// stope completion prints the script that lets a shell complete commands, options and their values.
#include "arguments/completion_script.hpp"
#include "arguments/option.hpp"
#include "arguments/value.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"

namespace stope::cli {
namespace {

constexpr const char* kExamples =
    "Examples\n"
    "  source <(stope completion bash)\n"
    "  stope completion zsh > ~/.zfunc/_stope\n"
    "  stope completion fish > ~/.config/fish/completions/stope.fish\n";

class Completion : public Command {
 public:
  explicit Completion(CLI::App& program)
      : Command(program, "completion", "Print the completion script of a shell",
                "Prints the script that lets a shell complete commands, options and their values."),
        program_(program) {
    add_argument(*app, "SHELL", shell_, "bash|zsh|fish", "bash, zsh or fish");
    OptionGroup(*app, "Output").text("-o,--output", output_, "FILE", "File for the script; default: stdout");
    add_common(kExamples);
  }

  void run(Session& session) override {
    require_choice(shell_, {"bash", "zsh", "fish"}, "completion");
    const std::string script = shell_ == "bash"  ? bash_completion(program_)
                               : shell_ == "zsh" ? zsh_completion(program_)
                                                 : fish_completion(program_);
    session.json()["script"] = script;
    if (common.json && output_.empty()) return;
    session.wants_data(output_);
    write_text(output_path(output_), script);
  }

 private:
  const CLI::App& program_;
  std::string shell_, output_;
};

}  // namespace

std::unique_ptr<Command> add_completion(CLI::App& program) {
  return std::make_unique<Completion>(program);
}

}  // namespace stope::cli
