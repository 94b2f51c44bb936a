// Option values from their text, besides those of stope/words.hpp. Every refusal is invalid_argument and names option
// and value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stope/words.hpp"

namespace stope::cli {

/// Values of k from "5", "1,3,5", "1..50" and mixtures of these, in any order, each k once.
std::vector<std::int64_t> parse_k_list(std::string_view text, std::string_view option);

/// One character, or "\t" / "tab".
char parse_character(std::string_view text, std::string_view option);

/// Throws, naming the nearest choice, unless `text` is one of `choices`.
std::size_t require_choice(std::string_view text, const std::vector<std::string>& choices, std::string_view option);

}  // namespace stope::cli
