#include "arguments/typed_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

namespace stope::cli {
namespace {

constexpr std::array<std::string_view, 12> kChangeNothing = {"--output",   "--report", "--json",    "--explain",
                                                             "--progress", "--quiet",  "--n-jobs",  "--memory-limit",
                                                             "--device",   "--help",   "--version", "--timings"};

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? option.get_name() : "--" + option.get_lnames().front();
}

bool is_about_reading(const CLI::Option& option) {
  const std::string& group = option.get_group();
  return group.starts_with("Columns (") || group == "Input formats" || group == "Reading text tables";
}

}  // namespace

std::vector<std::string> typed_words(const CLI::App& command, TypedOptions options) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_positional()) continue;
    const std::string name = long_name(*option);
    if (std::find(kChangeNothing.begin(), kChangeNothing.end(), name) != kChangeNothing.end()) continue;
    if (options == TypedOptions::reading && !is_about_reading(*option)) continue;
    if (option->get_expected_max() == 0) {  // a flag
      words.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) words.insert(words.end(), {name, value});
  }
  return words;
}

}  // namespace stope::cli
