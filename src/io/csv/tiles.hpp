// Tables of few long records are parsed by tiles: a range of columns of all records. A thread that writes whole columns
// touches each line of memory once, and needs one dictionary at a time. Here is where the tiles lie in the text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "io/csv/kernels.hpp"
#include "io/csv/padded_text.hpp"
#include "io/csv/segments.hpp"

namespace stope::io::csv {

/// How a table is cut into tiles: all of them have `width` columns, but for the last.
struct TileShape {
  std::int64_t n_rows = 0, n_columns = 0, width = 0;

  std::int64_t n_tiles() const { return (n_columns + width - 1) / width; }
  std::int64_t first_column(std::int64_t tile) const { return tile * width; }
  std::int64_t columns(std::int64_t tile) const { return std::min(width, n_columns - tile * width); }
};

/// Where the tiles of every record begin. A tile's part of a record ends with a separator, or with the record.
class Tiles {
 public:
  explicit Tiles(const TileShape& shape);

  const TileShape& shape() const { return shape_; }
  /// Offset in the text.
  std::int64_t begin(std::int64_t row, std::int64_t tile) const {
    return records_[static_cast<std::size_t>(row)] + begins_[static_cast<std::size_t>(row * (n_tiles_ + 1) + tile)];
  }
  /// Offset of the byte behind the part's last separator or line end.
  std::int64_t end(std::int64_t row, std::int64_t tile) const { return begin(row, tile + 1); }
  /// Whether the kernels cannot read the record, so that record.hpp must.
  bool by_grammar(std::int64_t row) const { return by_grammar_[static_cast<std::size_t>(row)] != 0; }

 private:
  friend class TileFinder;

  TileShape shape_;
  std::int64_t n_tiles_;
  std::vector<std::int64_t> records_;  // offset of each
  std::vector<std::uint32_t> begins_;  // by record and tile, from the record's offset; one more entry for its end
  std::vector<std::uint8_t> by_grammar_;
};

/// Finds the tiles of the records in segments. One for each thread; segments have different records.
class TileFinder {
 public:
  TileFinder(const PaddedText& text, const std::string& name, const Dialect& dialect, const Kernels& kernels,
             Tiles& tiles);

  /// False if the segment is not as it was guessed, or holds a mistake. Throws unsupported for a record of 4 GB.
  bool find(const Segment& segment);

 private:
  bool find_fast(std::int64_t at, std::int64_t end, std::int64_t row, std::int64_t& next);
  bool find_by_grammar(std::int64_t at, std::int64_t end, std::int64_t& row, std::int64_t last_row, std::int64_t& next);
  void note_begins(std::int64_t row, std::int64_t field, std::int64_t n_fields, std::int64_t piece);

  const PaddedText& text_;
  const std::string& name_;
  const Dialect& dialect_;
  const Kernels& kernels_;
  Tiles& tiles_;
  std::vector<std::uint32_t> ends_;
  bool suspicious_ = false;
};

}  // namespace stope::io::csv
