// Declares options on a CLI11 command. CLI11 splits the words of the command line; what a value means is decided here,
// so that every refusal reads alike and no value is reinterpreted (CLI11 reads "[a,b]" as a list, 010 as octal).
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace stope::cli {

/// Adds options of one group of the help text. `names` is CLI11's "-k,--n-neighbors"; `type` is the word the help shows
/// for the value: choices are "a|b|c", and completion takes them from there.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, std::string title) : app_(app), title_(std::move(title)) {}

  CLI::Option* flag(const std::string& names, bool& value, const std::string& help);
  CLI::Option* text(const std::string& names, std::string& value, const std::string& type, const std::string& help);
  CLI::Option* integer(const std::string& names, std::int64_t& value, const std::string& type, const std::string& help);
  CLI::Option* real(const std::string& names, double& value, const std::string& type, const std::string& help);
  CLI::Option* choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
                      const std::string& help);
  /// Items between commas; the option may be repeated. The first use replaces what `value` holds.
  CLI::Option* list(const std::string& names, std::vector<std::string>& value, const std::string& type,
                    const std::string& help);
  /// One item a use; the option may be repeated.
  CLI::Option* repeated(const std::string& names, std::vector<std::string>& value, const std::string& type,
                        const std::string& help);
  /// A value with a parser of its own.
  CLI::Option* parsed(const std::string& names, const std::string& type, const std::string& help,
                      const std::function<void(const std::string&)>& parse);

 private:
  CLI::Option* add(const std::string& names, const std::string& type, const std::string& help,
                   const CLI::callback_t& callback);

  CLI::App& app_;
  std::string title_;
};

/// A required positional argument; `type` TABLE, FILE or choices.
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& value, const std::string& type,
                          const std::string& help);

/// The words behind "a|b|c"; empty where `type` is no list of choices.
std::vector<std::string> choices_of(const std::string& type);

}  // namespace stope::cli
