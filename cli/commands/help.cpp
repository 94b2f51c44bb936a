// stope help prints the overview, the help of a command, the topics, and the man pages.
#include "arguments/help_text.hpp"
#include "arguments/help_topics.hpp"
#include "arguments/man_page.hpp"
#include "arguments/option.hpp"
#include "commands/command.hpp"
#include "report/output.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::cli {
namespace {

class Help : public Command {
 public:
  explicit Help(CLI::App& program)
      : Command(program, "help", "Show this overview, or the help of a command or topic",
                "Shows the help of a command or of a topic: metrics, formats, missing, exit-codes, json."),
        program_(program) {
    add_argument(*app, "COMMAND", topic_, "COMMAND", "A command or a topic; without it the overview", Required::no);
    // The build makes the man pages with it; nobody else needs it.
    OptionGroup(*app, "").flag("--man", man_, "Print the man page of that name; without one, the names of all");
    add_common("Examples\n  stope help classify\n  stope help metrics\n  stope help exit-codes\n");
  }

  void run(Session& session) override {
    const std::string text = topic_text();
    if (common.json) {
      session.json()["text"] = text;
    } else {
      write_text("-", text);
    }
  }

 private:
  std::string topic_text() const {
    if (man_) return man_text();
    if (topic_.empty()) return help_text(program_);
    if (topic_ == "metrics") return metrics_text();
    std::vector<std::string> names = {"metrics"};
    for (const HelpTopic& topic : help_topics()) {
      if (topic.name == topic_) return std::string(topic.text);
      names.emplace_back(topic.name);
    }
    for (const CLI::App* command : commands_of(program_)) {
      if (command->get_name() == topic_) return help_text(*command);
      names.push_back(command->get_name());
    }
    throw Error(ErrorCode::invalid_argument,
                "help: no command or topic is called '" + topic_ + "'" + did_you_mean(topic_, names));
  }

  std::string man_text() const {
    if (!topic_.empty()) return man_page(program_, topic_);
    std::string text;
    for (const std::string& name : man_page_names(program_)) text += name + "\n";
    return text;
  }

  const CLI::App& program_;
  std::string topic_;
  bool man_ = false;
};

}  // namespace

std::unique_ptr<Command> add_help(CLI::App& program) {
  return std::make_unique<Help>(program);
}

}  // namespace stope::cli
