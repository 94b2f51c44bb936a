// Declares options on a CLI11 command (cli/arguments/option.hpp).
#include "arguments/option.hpp"

#include <CLI/CLI.hpp>
#include <limits>

#include "arguments/value.hpp"
#include "report/version_text.hpp"
#include "stope/error.hpp"

namespace stope::cli {
namespace {

std::string first_name(const std::string& names) {
  return names.substr(0, names.find(','));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "|") + word;
  return text;
}

CLI::Option* add(CLI::App& app, const std::string& group, const std::string& names, const std::string& type,
                 const std::string& help, const CLI::callback_t& callback) {
  return app.add_option(names, callback, help)->type_name(type)->type_size(1)->expected(1)->group(group);
}

void take_all(CLI::Option* option) {
  option->expected(1, std::numeric_limits<int>::max())
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

void OptionGroup::flag(const std::string& names, bool& value, const std::string& help) {
  app_.add_flag(names, value, help)->disable_flag_override()->group(title_);
}

void OptionGroup::parsed(const std::string& names, const std::string& type, const std::string& help,
                         const std::function<void(const std::string&)>& parse) {
  add(app_, title_, names, type, help, [parse](const CLI::results_t& words) {
    parse(words.front());
    return true;
  });
}

void OptionGroup::text(const std::string& names, std::string& value, const std::string& type, const std::string& help,
                       Required required) {
  const bool is_file = type == "FILE";
  const bool is_column = type == "COLUMN";
  const auto callback = [&value, is_file, is_column, option = first_name(names)](const CLI::results_t& words) {
    value = words.front();
    if (is_file && value.empty()) throw Error(ErrorCode::invalid_argument, option + ": the name of the file is empty");
    if (is_column && value.empty()) throw Error(ErrorCode::invalid_argument, option + ": the column's name is empty");
    return true;
  };
  add(app_, title_, names, type, help, callback)->required(required == Required::yes);
}

void OptionGroup::integer(const std::string& names, std::int64_t& value, const std::string& type,
                          const std::string& help) {
  const std::string option = first_name(names);
  parsed(names, type, help, [&value, option](const std::string& word) { value = parse_integer(word, option); });
}

void OptionGroup::real(const std::string& names, double& value, const std::string& type, const std::string& help) {
  const std::string option = first_name(names);
  parsed(names, type, help, [&value, option](const std::string& word) { value = parse_real(word, option); });
}

void OptionGroup::choice(const std::string& names, std::string& value, const std::vector<std::string>& choices,
                         const std::string& help) {
  chosen(names, choices, help, [&value, choices](std::size_t i) { value = choices[i]; });
}

void OptionGroup::chosen(const std::string& names, const std::vector<std::string>& choices, const std::string& help,
                         const std::function<void(std::size_t)>& take) {
  const std::string option = first_name(names);
  parsed(names, joined(choices), help,
         [take, option, choices](const std::string& word) { take(require_choice(word, choices, option)); });
}

void OptionGroup::list(const std::string& names, std::vector<std::string>& value, const std::string& type,
                       const std::string& help) {
  const std::string option = first_name(names);
  const auto callback = [&value, option](const CLI::results_t& words) {
    value.clear();
    for (const std::string& word : words) {
      for (std::string& item : split_list(word, option)) value.push_back(std::move(item));
    }
    return true;
  };
  take_all(add(app_, title_, names, type, help, callback));
}

void OptionGroup::repeated(const std::string& names, std::vector<std::string>& value, const std::string& type,
                           const std::string& help) {
  const auto callback = [&value](const CLI::results_t& words) {
    value = words;
    return true;
  };
  take_all(add(app_, title_, names, type, help, callback));
}

void add_argument(CLI::App& app, const std::string& name, std::string& value, const std::string& type,
                  const std::string& help, Required required) {
  const bool is_file = type == "FILE" || type == "TABLE";
  const auto callback = [&value, is_file, name](const CLI::results_t& words) {
    value = words.front();
    if (is_file && value.empty()) throw Error(ErrorCode::invalid_argument, name + ": the name of the file is empty");
    return true;
  };
  app.add_option(name, callback, help)->type_name(type)->type_size(1)->expected(1)->required(required == Required::yes);
}

void add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& values, const std::string& type,
                   const std::string& help) {
  const auto callback = [&values, name](const CLI::results_t& words) {
    for (const std::string& word : words) {
      if (word.empty()) throw Error(ErrorCode::invalid_argument, name + ": the name of the file is empty");
    }
    values = words;
    return true;
  };
  app.add_option(name, callback, help)
      ->type_name(type)
      ->type_size(1)
      ->expected(1, std::numeric_limits<int>::max())
      ->allow_extra_args(true)
      ->required(true);
}

void add_version_flag(CLI::App& app, const std::string& group) {
  app.set_version_flag("-V,--version", version_text, "Print version, back ends and compiler, and exit")->group(group);
}

std::vector<std::string> choices_of(const std::string& type) {
  std::vector<std::string> choices;
  if (type.find('|') == std::string::npos) return choices;
  for (std::size_t begin = 0; begin <= type.size();) {
    const std::size_t end = std::min(type.find('|', begin), type.size());
    choices.push_back(type.substr(begin, end - begin));
    begin = end + 1;
  }
  return choices;
}

}  // namespace stope::cli
