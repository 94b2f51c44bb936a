// Declares options on a CLI11 command. CLI11 only splits the words of the command line; this file decides what a value
// means. So every refusal reads alike, and no value is reinterpreted (CLI11 reads "[a,b]" as a list, 010 as octal).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "stope/names.hpp"

namespace CLI {
class App;
}

namespace stope::cli {

enum class Required { no, yes };

/// Adds the options of one group of the help text. `names` is CLI11's "-k,--n-neighbors". `type` is the word that the
/// help shows for the value; choices are "a|b|c", and completion reads them, too.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string title) : app_(app), title_(std::move(title)) {}

  void flag(const std::string& names, bool& value, const std::string& help);
  void text(const std::string& names, std::string& value, const std::string& type, const std::string& help,
            Required required = Required::no);
  void integer(const std::string& names, std::int64_t& value, const std::string& type, const std::string& help);
  void real(const std::string& names, double& value, const std::string& type, const std::string& help);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
              const std::string& help);
  /// Takes the name of a value of an enumeration (stope/names.hpp). The help text ends with the default.
  template <class Choice>
    requires std::is_enum_v<Choice>
  void choice(const std::string& names, Choice& value, const std::string& help) {
    chosen(names, names_of<Choice>(), help + " [" + std::string(to_string(value)) + "]",
           [&value](std::size_t i) { value = static_cast<Choice>(i); });
  }
  /// Takes items between commas; the option may be repeated. The first use replaces the default in `value`.
  void list(const std::string& names, std::vector<std::string>& value, const std::string& type,
            const std::string& help);
  /// Takes one item per use; the option may be repeated.
  void repeated(const std::string& names, std::vector<std::string>& value, const std::string& type,
                const std::string& help);
  /// Takes a value with a parser of its own.
  void parsed(const std::string& names, const std::string& type, const std::string& help,
              const std::function<void(const std::string&)>& parse);

 private:
  /// `take` gets the place of the word among the choices.
  void chosen(const std::string& names, const std::vector<std::string>& choices, const std::string& help,
              const std::function<void(std::size_t)>& take);

  CLI::App& app_;
  std::string title_;
};

/// Adds a positional argument; `type` is TABLE, FILE or choices.
void add_argument(CLI::App& app, const std::string& name, std::string& value, const std::string& type,
                  const std::string& help, Required required = Required::yes);

/// Adds a positional argument that takes all words that no option takes.
void add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& type,
                   const std::string& help);

/// Adds the flag that prints the version and ends the program.
void add_version_flag(CLI::App& app, const std::string& group);

/// The words in "a|b|c"; empty where `type` is no list of choices.
std::vector<std::string> choices_of(const std::string& type);

}  // namespace stope::cli
