// Option values from their text: numbers, sizes, lists. Every refusal is invalid_argument and names option and value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stope::cli {

std::int64_t parse_integer(std::string_view text, std::string_view option);
std::uint64_t parse_seed(std::string_view text, std::string_view option);
/// Any finite number.
double parse_real(std::string_view text, std::string_view option);

/// Bytes from "2GB", "1.5GiB", "512MB", "4096": KB to TB are powers of 1000, KiB to TiB powers of 1024. At least one.
std::int64_t parse_bytes(std::string_view text, std::string_view option);

/// Items between commas. Blanks and empty items are kept. An item in double quotes may hold commas, and "" in it is a
/// quote.
std::vector<std::string> split_list(std::string_view text, std::string_view option);

/// Values of k from "5", "1,3,5", "1..50" and mixtures of these, in any order, each k once.
std::vector<std::int64_t> parse_k_list(std::string_view text, std::string_view option);

/// One character, or "\t" / "tab".
char parse_character(std::string_view text, std::string_view option);

/// Throws, naming the nearest choice, unless `text` is one of `choices`.
std::size_t require_choice(std::string_view text, const std::vector<std::string>& choices, std::string_view option);

}  // namespace stope::cli
