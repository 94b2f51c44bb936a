#include "io/csv/tiles.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "io/csv/record.hpp"
#include "io/csv/text.hpp"
#include "stope/error.hpp"

namespace stope::io::csv {
namespace {

constexpr std::int64_t kPieceFields = 4096;                         // whose ends stay in the first-level cache
constexpr std::int64_t kFarthest = (std::int64_t{1} << 32) - 1024;  // what 32 bits and a block of a kernel reach

[[noreturn]] void refuse_long_record(const std::string& name) {
  throw Error(ErrorCode::unsupported, "a record of more than 4 GB", {name});
}

}  // namespace

Tiles::Tiles(const TileShape& shape)
    : shape_(shape),
      n_tiles_(shape.n_tiles()),
      records_(static_cast<std::size_t>(shape.n_rows)),
      begins_(static_cast<std::size_t>(checked::mul(shape.n_rows, n_tiles_ + 1))),
      by_grammar_(static_cast<std::size_t>(shape.n_rows)) {}

TileFinder::TileFinder(const PaddedText& text, const std::string& name, const Dialect& dialect, const Kernels& kernels,
                       Tiles& tiles)
    : text_(text),
      name_(name),
      dialect_(dialect),
      kernels_(kernels),
      tiles_(tiles),
      ends_(static_cast<std::size_t>(kPieceFields + 64)) {}

bool TileFinder::find(const Segment& segment) {
  const std::int64_t end = text_.end_of(segment);
  const std::int64_t last_row = segment.first_row + segment.n_rows;
  std::int64_t row = segment.first_row;
  for (std::int64_t at = segment.begin; at < end;) {
    std::int64_t next = at;
    suspicious_ = false;
    const bool comment = dialect_.comment != '\0' && *text_.at(at) == dialect_.comment;
    if (!comment && row < last_row && find_fast(at, end, row, next)) {
      ++row;
    } else if (!find_by_grammar(at, end, row, last_row, next)) {
      return false;
    }
    const std::string_view record(text_.at(at), static_cast<std::size_t>(next - at));
    if (suspicious_ && (record.find('\0') != std::string_view::npos || find_invalid_utf8(record) >= 0)) return false;
    at = next;
  }
  return row == last_row;
}

// Goes through the record piece by piece. False where the kernel cannot read it, or where a line end is not at the
// record's last field.
bool TileFinder::find_fast(std::int64_t at, std::int64_t end, std::int64_t row, std::int64_t& next) {
  const std::int64_t n_columns = tiles_.shape_.n_columns;
  tiles_.records_[static_cast<std::size_t>(row)] = at;
  tiles_.begins_[static_cast<std::size_t>(row * (tiles_.n_tiles_ + 1))] = 0;
  std::int64_t piece = at;
  for (std::int64_t field = 0; field < n_columns;) {
    const char* const text = text_.at(piece);
    const FieldIndex index = kernels_.index_fields(text, end - piece, dialect_.separator,
                                                   std::min(kPieceFields, n_columns - field), 0, ends_.data());
    suspicious_ = suspicious_ || index.suspicious;
    const std::int64_t n = std::min(index.n_fields, n_columns - field);
    if (index.irregular || n == 0) return false;
    const bool last = field + n == n_columns;
    if (index.n_newlines > 0 || last) {
      const auto is_newline = [text](std::uint32_t i) { return text[i] == '\n'; };
      if (std::count_if(ends_.begin(), ends_.begin() + n, is_newline) != (last ? 1 : 0)) return false;
      if (last && !is_newline(ends_[static_cast<std::size_t>(n - 1)])) return false;
    }
    if (piece + ends_[static_cast<std::size_t>(n - 1)] + 1 - at > kFarthest) refuse_long_record(name_);
    note_begins(row, field, n, piece - at);
    piece += std::int64_t{ends_[static_cast<std::size_t>(n - 1)]} + 1;
    field += n;
  }
  next = piece;
  return true;
}

// A tile begins behind the end of the field before it, and so does what follows the record.
void TileFinder::note_begins(std::int64_t row, std::int64_t field, std::int64_t n_fields, std::int64_t piece) {
  const TileShape& shape = tiles_.shape_;
  std::uint32_t* const begins = tiles_.begins_.data() + row * (tiles_.n_tiles_ + 1);
  const auto behind = [&](std::int64_t i) {
    return static_cast<std::uint32_t>(piece + ends_[static_cast<std::size_t>(i - 1 - field)] + 1);
  };
  const std::int64_t first = checked::ceil_div(field + 1, shape.width);
  for (std::int64_t tile = first; tile < tiles_.n_tiles_ && tile * shape.width <= field + n_fields; ++tile) {
    begins[tile] = behind(tile * shape.width);
  }
  if (field + n_fields == shape.n_columns) begins[tiles_.n_tiles_] = behind(shape.n_columns);
}

bool TileFinder::find_by_grammar(std::int64_t at, std::int64_t end, std::int64_t& row, std::int64_t last_row,
                                 std::int64_t& next) {
  const TileShape& shape = tiles_.shape_;
  const std::string_view text(text_.at(at), static_cast<std::size_t>(end - at));
  const bool room = row < last_row;
  std::uint32_t* const begins = room ? tiles_.begins_.data() + row * (tiles_.n_tiles_ + 1) : nullptr;
  std::int64_t field = 0;
  const Record record = scan_record(text, 0, dialect_, [&](std::int64_t, std::int64_t field_end) {
    ++field;
    if (field % shape.width != 0 || field >= shape.n_columns || !room) return;
    while (field_end < end - at && is_blank(text[static_cast<std::size_t>(field_end)], dialect_.separator)) ++field_end;
    begins[field / shape.width] = static_cast<std::uint32_t>(field_end + 1);
  });
  next = at + record.next;
  suspicious_ = true;  // the index may have stopped before it saw all of these bytes
  if (record.status != RecordStatus::complete) return false;
  if (is_skipped(record, shape.n_columns)) return true;
  if (!room || record.n_fields != shape.n_columns) return false;
  if (record.next > kFarthest) refuse_long_record(name_);
  tiles_.records_[static_cast<std::size_t>(row)] = at;
  tiles_.by_grammar_[static_cast<std::size_t>(row)] = 1;
  begins[0] = 0;
  begins[tiles_.n_tiles_] = static_cast<std::uint32_t>(record.next);
  ++row;
  return true;
}

}  // namespace stope::io::csv
