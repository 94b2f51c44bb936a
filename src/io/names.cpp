// The names of the options of reading (stope/io.hpp).
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/choices.hpp"
#include "base/guarded.hpp"
#include "stope/io.hpp"

namespace stope {
namespace {

constexpr std::string_view kFormats[] = {"automatic", "csv",   "tsv", "arff",    "npy",   "fvecs",
                                         "bvecs",     "ivecs", "raw", "parquet", "arrow", "sheet"};
constexpr std::string_view kHeaders[] = {"automatic", "yes", "no"};
constexpr std::string_view kEncodings[] = {"utf-8", "utf-16", "latin-1", "windows-1252"};
constexpr std::pair<std::string_view, Encoding> kOtherEncodings[] = {
    {"utf8", Encoding::utf8},           {"ascii", Encoding::utf8},
    {"us-ascii", Encoding::utf8},       {"utf16", Encoding::utf16},
    {"utf-16le", Encoding::utf16},      {"utf-16be", Encoding::utf16},
    {"utf16le", Encoding::utf16},       {"utf16be", Encoding::utf16},
    {"unicode", Encoding::utf16},       {"latin1", Encoding::latin1},
    {"l1", Encoding::latin1},           {"iso-8859-1", Encoding::latin1},
    {"iso8859-1", Encoding::latin1},    {"iso88591", Encoding::latin1},
    {"cp1252", Encoding::windows1252},  {"windows1252", Encoding::windows1252},
    {"cp-1252", Encoding::windows1252}, {"ansi", Encoding::windows1252}};
constexpr std::string_view kOrders[] = {"sorted", "appearance"};
constexpr std::string_view kUnknown[] = {"error", "skip"};

}  // namespace

Format table_format(std::string_view name) try {
  return choice_of<Format>(kFormats, name, {"format", "format"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Format format) noexcept {
  return name_of(kFormats, format);
}
Header header(std::string_view name) try {
  return choice_of<Header>(kHeaders, name, {"header", "header"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Header header) noexcept {
  return name_of(kHeaders, header);
}
Encoding encoding(std::string_view name) try {
  std::string plain;  // lower case, with '-' for '_': ISO_8859_1
  for (const char c : name) {
    plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? '-' : c;
  }
  for (const auto& [other, value] : kOtherEncodings) {
    if (plain == other) return value;
  }
  if (plain != name && std::find(std::begin(kEncodings), std::end(kEncodings), plain) != std::end(kEncodings)) {
    return encoding(plain);
  }
  return choice_of<Encoding>(kEncodings, name, {"encoding", "encoding"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(Encoding encoding) noexcept {
  return name_of(kEncodings, encoding);
}
NominalOrder nominal_order(std::string_view name) try {
  return choice_of<NominalOrder>(kOrders, name, {"order of nominal values", "nominal_order"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(NominalOrder order) noexcept {
  return name_of(kOrders, order);
}
UnknownColumns unknown_columns(std::string_view name) try {
  return choice_of<UnknownColumns>(kUnknown, name, {"treatment of unknown columns", "unknown_columns"});
} catch (...) {
  rethrow_as_error();
}
std::string_view to_string(UnknownColumns unknown) noexcept {
  return name_of(kUnknown, unknown);
}

}  // namespace stope
