#include "page/command_line.hpp"

#include <algorithm>

namespace stope::cli::page {

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "%+,-./0123456789:=@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string command_line(const std::string& command, const std::string& table,
                         const std::vector<std::string>& options) {
  std::vector<std::string> words = {"stope", command, table};
  words.insert(words.end(), options.begin(), options.end());
  return shell_line(words);
}

void write_command(Markup& out, const std::string& command) {
  if (command.empty()) return;
  out.element("details", [&] {
    out.element("summary", "Repeat this part");
    out.element("pre", {{"tabindex", 0}}, [&] { out.element("code", command); });
  });
}

}  // namespace stope::cli::page
