// Numbers, sizes and lists as people write them in options: the command line and the C ABI read them alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace stope {

/// Each throws invalid_argument for a word that is none, "OPTION: 'WORD' is not ...", and Error::option() is `option`.
std::int64_t parse_integer(std::string_view text, std::string_view option);
std::uint64_t parse_seed(std::string_view text, std::string_view option);
/// Any finite number.
double parse_real(std::string_view text, std::string_view option);

/// Bytes from "2GB", "1.5GiB", "512MB", "4096": KB to TB are powers of 1000, KiB to TiB powers of 1024. At least one.
std::int64_t parse_bytes(std::string_view text, std::string_view option);

/// Items between commas. Blanks and empty items are kept. An item in double quotes may hold commas, and "" in it is a
/// quote.
std::vector<std::string> split_list(std::string_view text, std::string_view option);

}  // namespace stope
#pragma GCC visibility pop
