// The characters of a CSV file: byte order marks, conversion to UTF-8, validity, lines before the table, and places.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes.hpp"
#include "stope/buffer.hpp"
#include "stope/io.hpp"

namespace stope::io::csv {

/// A file's text as UTF-8, without a byte order mark. `view` lies in the file or in `converted`.
struct Text {
  std::string_view view;
  Buffer<char> converted;
  std::string name;
  std::int64_t first_line = 1;                                    ///< the file's line at which `view` begins
  char separator = '\0';                                          ///< as a first line `sep=;` names it
  std::int64_t budget = INT64_MAX;                                ///< bytes that its columns may take
  std::shared_ptr<const std::vector<BytesPart>> parts = nullptr;  ///< of a text of several files
};

/// Converts a file's bytes. Throws invalid_data for a byte order mark that contradicts `encoding` and for malformed
/// UTF-16, and out_of_memory if the converted text exceeds `budget` bytes. UTF-8 is not checked here.
Text text_of(const Bytes& bytes, Encoding encoding, std::int64_t budget);

/// The text of a CSV file: without the lines to skip and a line `sep=;`, with which Excel names the separator, and with
/// its blanks joined, if they separate. Throws as text_of does, and invalid_argument for a negative skip_lines.
Text open_text(const Bytes& bytes, const ReadOptions& options, std::int64_t budget);

/// Line and column (in characters) of a byte offset. A line ends with LF, CR LF or CR, also inside quotes.
Place place_of(const Text& text, std::int64_t offset);

/// Offset of the first byte that does not belong to well-formed UTF-8 (Unicode 15, table 3-7), or -1.
std::int64_t find_invalid_utf8(std::string_view text);

}  // namespace stope::io::csv
