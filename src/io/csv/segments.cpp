#include "io/csv/segments.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/counted.hpp"
#include "base/escape.hpp"

namespace stope::io::csv {
namespace {

// In a table of one column an empty line is a missing value; in any other table it is no record.
bool skips_empty_lines(const Layout& layout) {
  return layout.n_columns > 1;
}

void close_segment(std::vector<Segment>& segments, Segment& current, std::int64_t end) {
  current.end = end;
  if (current.end > current.begin) segments.push_back(current);
  current = {end, end, current.first_row + current.n_rows, 0};
}

// The last segment is parsed from a padded copy. This only helps if no other segment reaches into the file's last
// bytes.
void merge_short_tail(std::vector<Segment>& segments, std::int64_t text_size) {
  while (segments.size() > 1 && segments.back().begin > text_size - kPadding) {
    const Segment last = segments.back();
    segments.pop_back();
    segments.back().end = last.end;
    segments.back().n_rows += last.n_rows;
  }
}

}  // namespace

std::vector<Segment> guess_segments(const Text& text, const Layout& layout, const Kernels& kernels, ThreadPool& pool,
                                    const CancelToken& cancel) {
  if (layout.dialect.comment != '\0') return {};
  const auto n = static_cast<std::int64_t>(text.view.size());
  const std::int64_t first = layout.data_begin;
  const std::int64_t n_chunks = checked::ceil_div(n - first, layout.chunk_bytes);
  std::vector<EndCount> counts(static_cast<std::size_t>(n_chunks));
  const auto begin_of = [&](std::int64_t k) { return std::min(n, first + k * layout.chunk_bytes); };
  pool.parallel_for(n_chunks, cancel, [&](std::int64_t k, int) {
    counts[static_cast<std::size_t>(k)] = kernels.count_ends(text.view.data(), begin_of(k), begin_of(k + 1), n, k == 0);
  });

  std::vector<Segment> segments;
  Segment current{first, first, 0, 0};
  bool inside = false;
  const bool skip = skips_empty_lines(layout);
  for (std::int64_t k = 0; k < n_chunks; ++k) {
    const EndCount& count = counts[static_cast<std::size_t>(k)];
    const int guess = inside ? 1 : 0;
    std::int64_t rows = count.ends[guess] - (skip ? count.empty[guess] : 0);
    if (k > 0 && count.first_end[guess] >= 0) {
      // The record that reaches into this chunk belongs to the segment before.
      const std::int64_t straddling = skip && count.first_is_empty[guess] ? 0 : 1;
      current.n_rows += straddling;
      rows -= straddling;
      close_segment(segments, current, count.first_end[guess] + 1);
    }
    current.n_rows += rows;
    inside = inside != count.odd_quotes;
  }
  if (inside) return {};
  const char last = n > first ? text.view[static_cast<std::size_t>(n - 1)] : '\n';
  if (last != '\n' && last != '\r') ++current.n_rows;
  close_segment(segments, current, n);
  merge_short_tail(segments, n);
  return segments;
}

void check_characters(const Text& text, std::int64_t begin, std::int64_t end) {
  const std::string_view part =
      text.view.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  const std::size_t nul = part.find('\0');
  const std::int64_t invalid = find_invalid_utf8(part);
  if (nul != std::string_view::npos && (invalid < 0 || static_cast<std::int64_t>(nul) < invalid)) {
    throw Error(ErrorCode::invalid_data, "NUL byte: this is not a text file",
                place_of(text, begin + static_cast<std::int64_t>(nul)));
  }
  if (invalid >= 0) {
    std::string byte = "byte 0x";
    append_hex(byte, static_cast<unsigned char>(part[static_cast<std::size_t>(invalid)]));
    throw Error(ErrorCode::invalid_data, byte + " is not valid UTF-8 here (other encodings: windows-1252, latin-1)",
                place_of(text, begin + invalid));
  }
}

void check_status(const Text& text, const Record& record) {
  if (record.status == RecordStatus::unterminated_quote) {
    throw Error(ErrorCode::invalid_data, "the quote that opens here is never closed", place_of(text, record.fault));
  }
  if (record.status == RecordStatus::text_after_quote) {
    throw Error(ErrorCode::invalid_data, "text after a closing quote; a quote inside a quoted field is written twice",
                place_of(text, record.fault));
  }
}

std::vector<Segment> exact_segments(const Text& text, const Layout& layout, const CancelToken& cancel) {
  const auto n = static_cast<std::int64_t>(text.view.size());
  std::vector<Segment> segments;
  Segment current{layout.data_begin, layout.data_begin, 0, 0};
  std::int64_t polled = 0;
  for (std::int64_t at = layout.data_begin; at < n;) {
    std::int64_t index = 0, excess = -1;  // where the first surplus field begins
    bool empty = false;                   // whether that field is
    const Record record = scan_record(text.view, at, layout.dialect, [&](std::int64_t begin, std::int64_t end) {
      if (index++ != layout.n_columns) return;
      excess = begin;
      empty = begin == end;
    });
    check_status(text, record);
    check_characters(text, at, record.next);
    if (!is_skipped(record, layout.n_columns)) {
      if (record.n_fields != layout.n_columns && !layout.ragged) {
        Place place = place_of(text, excess >= 0 ? excess : at);
        place.option = "allow_ragged";
        const bool one_more = empty && record.n_fields == layout.n_columns + 1;
        throw Error(ErrorCode::invalid_data,
                    "expected " + counted(layout.n_columns, "field") + ", found " + std::to_string(record.n_fields) +
                        (one_more ? ": the line ends with a separator, the first one does not" : ""),
                    place);
      }
      ++current.n_rows;
    }
    at = record.next;
    if (at - current.begin >= layout.chunk_bytes) close_segment(segments, current, at);
    if (at - polled > (std::int64_t{1} << 20)) {
      polled = at;
      cancel.check();
    }
  }
  close_segment(segments, current, n);
  merge_short_tail(segments, n);
  return segments;
}

}  // namespace stope::io::csv
