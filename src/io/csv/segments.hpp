// Where the records of a CSV file begin: the file cut into segments of whole records that threads can parse alone.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "io/csv/kernels.hpp"
#include "io/csv/record.hpp"
#include "io/csv/text.hpp"

namespace stope::io::csv {

/// Records `first_row` .. `first_row + n_rows - 1` are exactly text[begin, end).
struct Segment {
  std::int64_t begin = 0, end = 0;
  std::int64_t first_row = 0, n_rows = 0;
};

/// What the data part of a file looks like.
struct Layout {
  std::int64_t data_begin = 0;  ///< after the header
  std::int64_t n_columns = 0;
  char separator = ',';
  std::int64_t chunk_bytes = 0;  ///< a segment is at least this long, if the file is
};

/// A guess at memory speed, in parallel: a line end is outside quotes if an even number of quotes comes before it. That
/// holds unless a quote stands inside an unquoted field, and blank lines count as none only if they hold no blanks; so
/// the parser checks that each segment has its number of rows and asks for exact_segments where it does not.
/// Segments come back empty where the guess cannot be right (an odd number of quotes).
std::vector<Segment> guess_segments(const Text& text, const Layout& layout, const Kernels& kernels, ThreadPool& pool,
                                    const CancelToken& cancel);

/// The truth, by the grammar, one record after the other; throws invalid_file at the first record that has not
/// n_columns fields, an unterminated quote, text after a closing quote, a NUL, or bytes that are no UTF-8.
std::vector<Segment> exact_segments(const Text& text, const Layout& layout, const CancelToken& cancel);

/// Throws invalid_file if text[begin, end) holds a NUL or bytes that are no UTF-8.
void check_characters(const Text& text, std::int64_t begin, std::int64_t end);

/// Throws the error a record's status stands for; nothing if it is complete.
void check_status(const Text& text, const Record& record);

}  // namespace stope::io::csv
