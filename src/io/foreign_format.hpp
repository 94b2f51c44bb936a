// Formats that are not read, recognised by their first bytes, so that the error names them and the way round.
#pragma once

#include <string>
#include <string_view>

namespace stope::io {

/// Text formats are only guessed at; whoever asks for CSV gets CSV. A magic number leaves no doubt.
enum class Foreign { any, with_magic_number };

/// Throws unsupported if `bytes` are of a known format that stope does not read. `name` is the file, for the message.
void refuse_foreign(std::string_view bytes, const std::string& name, Foreign which);

/// Whether a path is a URL, such as https://host/table.csv or s3://bucket/table.csv.
bool is_url(std::string_view path);

/// The command that reads a URL into stope, or what else to do with one.
std::string way_to_read(const std::string& url);

}  // namespace stope::io
