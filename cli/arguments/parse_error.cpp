// Splits the command line and words its refusals (cli/arguments/parse_error.hpp).
#include "arguments/parse_error.hpp"

#include <algorithm>

#include "arguments/foreign_words.hpp"
#include "arguments/help_text.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  }
  return names;
}

/// The option that people who know other programs or commands mean, else the nearest name. There is no nearest name to
/// a letter, nor to a word whose meaning is known and that this command has no option for.
std::string suggestion(const std::string& name, const std::vector<std::string>& options) {
  const std::string_view meant = option_meant_by(name);
  const std::string_view option = meant.substr(0, meant.find(' '));
  if (!meant.empty() && std::find(options.begin(), options.end(), option) != options.end()) {
    return " (did you mean '" + std::string(meant) + "'?)";
  }
  return name.size() > 2 && meant.empty() ? did_you_mean(name, options) : "";
}

std::string advice(const CLI::App& app, std::string_view option) {
  const std::string_view text = advice_on(app.get_name(), option);
  return text.empty() ? "" : " (" + std::string(text) + ")";
}

bool is_option_of_a_command(const CLI::App& program, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<const CLI::App*> commands = commands_of(program);
  return std::any_of(commands.begin(), commands.end(),
                     [&](const CLI::App* command) { return command->get_option_no_throw(name) != nullptr; });
}

// Whether the words use an option by this name: --name, --name=3, -k or -k3.
bool uses(const std::vector<std::string>& words, const std::string& name) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == name || word.starts_with(name + "=") || (name.size() == 2 && word.starts_with(name));
  });
}

const CLI::App* parsed_command(const CLI::App& program) {
  for (const CLI::App* command : commands_of(program)) {
    if (command->parsed()) return command;
  }
  return &program;
}

/// Refuses words that the command has no use for. An unknown option explains all other mistakes, so it is reported
/// first.
void refuse_extra_words(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  const std::string see = "; 'stope " + app.get_name() + " --help' lists them";
  for (const std::string& word : words) {
    if (word.size() < 2 || word.front() != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    const std::string near = advice(app, name).empty() ? suggestion(name, option_names(app)) : advice(app, name);
    refuse(app.get_name() + ": unknown option '" + name + "'" + (near.empty() ? see : near));
  }
  for (const std::string& word : words) {
    if (word != "--") refuse(app.get_name() + ": unexpected argument '" + word + "'" + advice(app, ""));
  }
}

void refuse_missing_words(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const std::string name = option->get_name(option->get_positional());
    refuse(app.get_name() + ": " + name + " is missing (" + option->get_description() + ")");
  }
}

/// Refuses e.g. "-k" at the end of the line, or "--json=3".
void refuse_wrong_values(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_name() != "ArgumentMismatch") return;
  const std::string message = error.what();
  for (const CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool named = message.find(option->get_name() + ":") == 0;
    if (named && !type.empty()) refuse(app.get_name() + ": " + option->get_name() + " needs a value, " + type);
    for (const std::string& name : option->get_lnames()) {
      const bool flag = type.empty() && message.find(name + " was given") == 0;
      if (flag) refuse(app.get_name() + ": --" + name + " takes no value");
    }
  }
}

void refuse_repeated_options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const bool once = option->get_expected_max() == 1;
    if (once && option->count() > 1) refuse(app.get_name() + ": " + option->get_name() + " is given twice");
  }
}

}  // namespace

void require_command(const CLI::App& program, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(program)) {
    if (command->get_name() == word) return;
    names.push_back(command->get_name());
  }
  for (const char* known : {"-h", "--help", "-V", "--version", "version"}) {
    if (word == known) return;
  }
  if (word.size() > 1 && word.front() == '-') {
    if (is_option_of_a_command(program, word)) {
      refuse("'" + word + "' comes before the command; put options after it");
    }
    refuse("unknown option '" + word + "'" +
           (word == "-v" ? " (did you mean '-V'?)" : "; 'stope --help' lists the commands"));
  }
  refuse("unknown command '" + word + "'" + did_you_mean(word, names));
}

Error as_typed(const Error& error, const CLI::App& app, const std::vector<std::string>& words) {
  const std::string& message = error.message();
  const std::string name = message.substr(0, message.find_first_of(": "));
  const CLI::Option* const option = name.starts_with('-') ? app.get_option_no_throw(name) : nullptr;
  if (option == nullptr) return error;
  std::string typed = name;
  if (!uses(words, name)) {
    for (const std::string& other : names_of(*option)) {
      if (uses(words, other)) typed = other;
    }
  }
  Place place = error.place();
  if (place.option.empty()) place.option = typed;
  return {error.code(), typed + message.substr(name.size()), place};
}

void parse(CLI::App& program, const std::vector<std::string>& words) {
  std::vector<std::string> reversed;  // CLI11 takes words from the back
  for (const std::string& word : words) {
    const bool empty_value = word.size() > 3 && word.substr(0, 2) == "--" && word.find('=') == word.size() - 1;
    reversed.insert(reversed.begin(), empty_value ? word.substr(0, word.size() - 1) : word);
    // CLI11 would take the next word as the value of "--missing=".
    if (empty_value) reversed.insert(reversed.begin(), "");
  }
  try {
    program.parse(reversed);
  } catch (const CLI::Success&) {
    throw;  // help or version
  } catch (const CLI::ParseError& error) {
    const CLI::App& app = *parsed_command(program);
    refuse_extra_words(app);
    refuse_repeated_options(app);
    refuse_wrong_values(app, error);
    refuse_missing_words(app);
    refuse(app.get_name() + ": " + error.what());
  }
}

}  // namespace stope::cli
