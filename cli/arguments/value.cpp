// Option values from their text (cli/arguments/value.hpp).
#include "arguments/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "arguments/foreign_words.hpp"
#include "stope/error.hpp"
#include "stope/nearest_name.hpp"

namespace stope::cli {
namespace {

constexpr std::int64_t kMaxListedKs = 1'000'000;  // each k keeps its own scores

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view why) {
  throw Error(ErrorCode::invalid_argument, std::string(option) + ": '" + std::string(text) + "' " + std::string(why));
}

}  // namespace

std::vector<std::int64_t> parse_k_list(std::string_view text, std::string_view option) {
  std::vector<std::int64_t> ks;
  for (const std::string& item : split_list(text, option)) {
    const std::size_t dots = item.find("..");
    const std::int64_t first = parse_integer(std::string_view(item).substr(0, dots), option);
    const std::int64_t last =
        dots == std::string::npos ? first : parse_integer(std::string_view(item).substr(dots + 2), option);
    if (first < 1) refuse(option, item, "is not at least 1");
    if (last < first) refuse(option, item, "ends before it begins");
    if (last - first >= kMaxListedKs) refuse(option, item, "asks for more than 1000000 values of k");
    for (std::int64_t k = first; k <= last; ++k) ks.push_back(k);
  }
  std::set<std::int64_t> seen;
  std::erase_if(ks, [&](std::int64_t k) { return !seen.insert(k).second; });
  return ks;
}

char parse_character(std::string_view text, std::string_view option) {
  if (text == "\\t" || text == "tab") return '\t';
  const bool single = text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80;
  if (!single || text[0] == '"' || text[0] == '\n' || text[0] == '\r' || text[0] == '\0') {
    refuse(option, text, "is not one ASCII character (\\t is a tab)");
  }
  return text[0];
}

std::size_t require_choice(std::string_view text, const std::vector<std::string>& choices, std::string_view option) {
  const auto at = std::find(choices.begin(), choices.end(), text);
  if (at != choices.end()) return static_cast<std::size_t>(at - choices.begin());
  std::string allowed;
  for (const std::string& choice : choices) allowed += (allowed.empty() ? "" : ", ") + choice;
  const std::string_view meant = value_meant_by(text);
  const bool known = std::find(choices.begin(), choices.end(), meant) != choices.end();
  refuse(option, text,
         "is not one of " + allowed +
             (known ? " (did you mean '" + std::string(meant) + "'?)" : did_you_mean(text, choices)));
}

}  // namespace stope::cli
