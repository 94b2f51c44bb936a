// Completion scripts for shells (cli/arguments/completion_script.hpp).
#include "arguments/completion_script.hpp"

#include <fmt/format.h>

#include <vector>

#include "arguments/help_text.hpp"
#include "arguments/help_topics.hpp"
#include "arguments/option.hpp"
#include "stope/metric.hpp"

namespace stope::cli {
namespace {

enum class Takes { nothing, words, file, text };

/// What may follow an option, or stand for an argument.
struct Value {
  Takes takes = Takes::nothing;
  std::vector<std::string> words;
};

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics()) names.emplace_back(metric.name);
  return names;
}

Value value_of(const CLI::App& program, const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.empty()) return {};
  if (type == "METRIC") return {Takes::words, metric_names()};
  if (type == "COMMAND") {
    Value value{Takes::words, {"metrics"}};
    for (const HelpTopic& topic : help_topics()) value.words.emplace_back(topic.name);
    for (const CLI::App* command : commands_of(program)) value.words.push_back(command->get_name());
    return value;
  }
  if (type.find("FILE") != std::string::npos || type == "TABLE") return {Takes::file, {}};
  const std::vector<std::string> choices = choices_of(type);
  return choices.empty() ? Value{Takes::text, {}} : Value{Takes::words, choices};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<const CLI::Option*> visible_options(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return !option->get_positional() && !option->get_group().empty(); });
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// The words that a command takes as its argument (completion bash|zsh|fish); empty where it takes files.
std::vector<std::string> argument_words(const CLI::App& program, const CLI::App& command) {
  for (const CLI::Option* argument : arguments_of(command)) {
    const Value value = value_of(program, *argument);
    if (value.takes == Takes::words) return value.words;
  }
  return {};
}

/// The first sentence, without characters that would end a quoted word in a shell.
std::string summary(const std::string& description) {
  std::string text = description.substr(0, description.find_first_of(";:["));
  for (char& c : text) {
    if (c == '\'' || c == '"' || c == '`' || c == '\\' || c == '$') c = ' ';
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  std::string commands, values, options, arguments;
  for (const CLI::App* command : commands_of(program)) {
    const std::string& name = command->get_name();
    commands += (commands.empty() ? "" : " ") + name;
    std::string listed;
    for (const CLI::Option* option : visible_options(*command)) {
      const Value value = value_of(program, *option);
      std::string pattern;
      for (const std::string& spelling : names_of(*option)) {
        listed += (listed.empty() ? "" : " ") + spelling;
        pattern += fmt::format("{}'{} {}'", pattern.empty() ? "" : "|", name, spelling);
      }
      if (value.takes == Takes::words) values += fmt::format("    {}) words='{}' ;;\n", pattern, joined(value.words));
      if (value.takes == Takes::file) values += fmt::format("    {}) files=yes ;;\n", pattern);
      if (value.takes == Takes::text) values += fmt::format("    {}) return ;;\n", pattern);
    }
    options += fmt::format("      {}) words='{}' ;;\n", name, listed);
    const std::vector<std::string> words = argument_words(program, *command);
    if (!words.empty()) arguments += fmt::format("      {}) words='{}' ;;\n", name, joined(words));
  }
  return fmt::format(R"(# bash completion for stope, printed by: stope completion bash
_stope() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local words='' files=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  case "$command $previous" in
{}  esac
  if [ -z "$words$files" ]; then
    case "$current" in
    -*) case "$command" in
{}      esac ;;
    *) case "$command" in
{}      *) files=yes ;;
      esac ;;
    esac
  fi
  if [ -n "$files" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
    compopt -o filenames 2>/dev/null
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -F _stope stope
)",
                     commands, values, options, arguments);
}

std::string zsh_completion(const CLI::App& program) {
  std::string list, cases;
  for (const CLI::App* command : commands_of(program)) {
    const std::string& name = command->get_name();
    list += fmt::format("    '{}:{}'\n", name, summary(summary_of(*command)));
    cases += fmt::format("    {})\n      _arguments -s \\\n", name);
    for (const CLI::Option* option : visible_options(*command)) {
      const Value value = value_of(program, *option);
      std::string action;
      if (value.takes == Takes::words) action = fmt::format(":value:({})", joined(value.words));
      if (value.takes == Takes::file) action = ":file:_files";
      if (value.takes == Takes::text) action = ":value: ";
      for (const std::string& spelling : names_of(*option)) {
        cases += fmt::format("        '*{}[{}]{}' \\\n", spelling, summary(option->get_description()), action);
      }
    }
    const std::vector<std::string> words = argument_words(program, *command);
    cases += words.empty() ? "        '*:file:_files'\n      ;;\n"
                           : fmt::format("        '*:value:({})'\n      ;;\n", joined(words));
  }
  return fmt::format(R"(#compdef stope
# zsh completion for stope, printed by: stope completion zsh
_stope() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
if [ "$funcstack[1]" = _stope ]; then _stope "$@"; else compdef _stope stope; fi
)",
                     list, cases);
}

std::string fish_completion(const CLI::App& program) {
  std::string script = "# fish completion for stope, printed by: stope completion fish\n";
  for (const CLI::App* command : commands_of(program)) {
    const std::string& name = command->get_name();
    script += fmt::format("complete -c stope -n __fish_use_subcommand -f -a {} -d '{}'\n", name,
                          summary(summary_of(*command)));
    const std::string here = fmt::format("complete -c stope -n '__fish_seen_subcommand_from {}'", name);
    for (const CLI::Option* option : visible_options(*command)) {
      const Value value = value_of(program, *option);
      std::string line = here;
      for (const std::string& spelling : option->get_snames()) line += " -s " + spelling;
      for (const std::string& spelling : option->get_lnames()) line += " -l " + spelling;
      if (value.takes == Takes::words) line += fmt::format(" -x -a '{}'", joined(value.words));
      if (value.takes == Takes::file) line += " -r -F";
      if (value.takes == Takes::text) line += " -x";
      script += line + " -d '" + summary(option->get_description()) + "'\n";
    }
    const std::vector<std::string> words = argument_words(program, *command);
    if (!words.empty()) script += here + " -f -a '" + joined(words) + "'\n";
  }
  return script;
}

}  // namespace stope::cli
