// Where the records of a CSV file begin. The file is cut into segments of whole records that threads parse
// independently.
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

/// The layout of the data part of a file.
struct Layout {
  std::int64_t data_begin = 0;  ///< after the header
  std::int64_t n_columns = 0;
  Dialect dialect;
  std::int64_t chunk_bytes = 0;  ///< a segment is at least this long, unless the file is shorter
  bool ragged = false;           ///< records may have fewer or more fields
};

/// Guesses the segments at memory speed, in parallel: a line end is outside quotes if an even number of quotes comes
/// before it. The guess is wrong if a quote stands inside an unquoted field, or if a blank line holds blanks. So the
/// parser checks that each segment has its number of rows, and asks exact_segments if not. There are no segments if the
/// guess cannot be right (an odd number of quotes, comments).
std::vector<Segment> guess_segments(const Text& text, const Layout& layout, const Kernels& kernels, ThreadPool& pool,
                                    const CancelToken& cancel);

/// Finds the segments by the grammar, one record after the other. Throws invalid_data at the first record that has not
/// n_columns fields (unless the layout is ragged), or has an unterminated quote, text after a closing quote, a NUL, or
/// bytes that are no UTF-8.
std::vector<Segment> exact_segments(const Text& text, const Layout& layout, const CancelToken& cancel);

/// Throws invalid_data if text[begin, end) holds a NUL or bytes that are no UTF-8.
void check_characters(const Text& text, std::int64_t begin, std::int64_t end);

/// Throws the error that a record's status stands for; does nothing if the record is complete.
void check_status(const Text& text, const Record& record);

}  // namespace stope::io::csv
