#include "io/arff_blocks.hpp"

#include <algorithm>
#include <limits>

#include "io/number.hpp"
#include "stope/table.hpp"

namespace stope::io {
namespace {

constexpr std::int64_t kTileFields = std::int64_t{1} << 14;  // whose text and index fit a cache of the second level
constexpr std::int64_t kLeastWidth = 64;
constexpr std::int64_t kFarthest = (std::int64_t{1} << 32) - 1024;  // what 32 bits and a block of a kernel reach

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// What a line holds besides words, commas and blanks.
struct LineKind {
  bool special = false;  // quotes, brackets, comments, control characters
  bool blanks = false;
};

// Bytes in bytes: a vector of them holds as many characters as it can.
LineKind kind_of(std::string_view line) {
  std::uint8_t special = 0, blanks = 0;
  for (const char c : line) {
    const bool low = static_cast<unsigned char>(c) < ' ';
    const bool mark = (c == '"') | (c == '\'') | (c == '%') | (c == '{') | (c == '}');
    special = static_cast<std::uint8_t>(special | static_cast<std::uint8_t>((low & (c != '\t')) | mark));
    blanks = static_cast<std::uint8_t>(blanks | static_cast<std::uint8_t>((c == ' ') | (c == '\t')));
  }
  return {special != 0, blanks != 0};
}

}  // namespace

std::int32_t ArffCells::code_of(std::string_view text) const {
  if (!hashed()) {
    const auto found = std::find(attribute.values.begin(), attribute.values.end(), text);
    return found == attribute.values.end() ? -1 : static_cast<std::int32_t>(found - attribute.values.begin());
  }
  const auto found = dictionary->find(text);
  return found == dictionary->end() ? -1 : found->second;
}

ArffBlockReader::ArffBlockReader(std::string_view text, const ArffScanner& scanner, std::vector<ArffCells>& cells,
                                 bool keel)
    : text_(text), scanner_(scanner), cells_(cells), keel_(keel) {}

bool ArffBlockReader::read(const ArffBlock& block) {
  if (!take_lines(block)) return false;
  const std::int64_t n = std::ssize(cells_);
  const std::int64_t width =
      std::clamp<std::int64_t>(kTileFields / block.n_rows, kLeastWidth, std::max(n, kLeastWidth));
  stride_ = ((width + 16) / 16 | 1) * 16;  // an odd number of lines: the rows are in different sets of the cache
  ends_.resize(static_cast<std::size_t>(block.n_rows * stride_ + 65));
  rest_.resize(static_cast<std::size_t>(block.n_rows));
  for (std::int64_t first = 0; first < n; first += width) {
    const std::int64_t here = std::min(width, n - first);
    if (!index(here, first + here == n)) return false;
    for (std::int64_t i = 0; i < here; ++i) {
      if (!fill(cells_[static_cast<std::size_t>(first + i)], block.first_row, first + i, i)) return false;
    }
  }
  return true;
}

bool ArffBlockReader::take_lines(const ArffBlock& block) {
  scanner_.go_to(block);
  lines_.clear();
  blanks_ = false;
  std::size_t bytes = 0;
  for (std::int64_t row = 0; row < block.n_rows; ++row) {
    scanner_.next_line();
    lines_.push_back(scanner_.text());
    bytes += lines_.back().size();
    const LineKind kind = kind_of(lines_.back());
    if (kind.special) return false;
    blanks_ = blanks_ || kind.blanks;
  }
  const char* const end = lines_.back().data() + lines_.back().size();
  if (end - lines_.front().data() > kFarthest) return false;
  if (text_.data() + text_.size() - end < csv::kPadding) {
    padded_.clear();
    padded_.reserve(bytes + csv::kPadding);  // so that views of it stay valid
    for (std::string_view& line : lines_) {
      const std::size_t at = padded_.size();
      padded_ += line;
      line = std::string_view(padded_.data() + at, line.size());
    }
    padded_.append(csv::kPadding, '\0');
  }
  at_.clear();
  for (const std::string_view line : lines_) at_.push_back(line.data());
  return true;
}

// Finds the ends of the next n fields of every line. False if a line has not as many, or more than its last.
bool ArffBlockReader::index(std::int64_t n, bool last) {
  const char* const base = lines_.front().data();
  for (std::size_t r = 0; r < lines_.size(); ++r) {
    const char* const end = lines_[r].data() + lines_[r].size();
    std::uint32_t* const ends = ends_.data() + static_cast<std::int64_t>(r) * stride_ + 1;
    const auto origin = static_cast<std::uint32_t>(at_[r] - base);
    ends[-1] = origin - 1;
    const csv::FieldIndex found = kernels_.index_fields(at_[r], end - at_[r], ',', n, origin, ends);
    if (last ? found.n_fields != n - 1 : found.n_fields < n) return false;
    if (last) ends[n - 1] = static_cast<std::uint32_t>(end - base);
    at_[r] = base + ends[n - 1] + 1;
  }
  return true;
}

bool ArffBlockReader::fill(ArffCells& cells, std::int64_t first_row, std::int64_t attribute, std::int64_t i) {
  const std::uint32_t* const begins = ends_.data() + i;
  const csv::ColumnSlice slice{lines_.front().data(), begins, begins + 1, 1, stride_, std::ssize(lines_), false};
  if (cells.attribute.kind == ArffKind::number || cells.attribute.kind == ArffKind::integer) {
    return fill_numbers(cells, slice, first_row, attribute);
  }
  for (std::int64_t r = 0; r < slice.n_rows; ++r) {
    std::string_view text;
    if (!word(slice, r, text)) return false;
    const std::int64_t row = first_row + r;
    if (!cells.coded()) {
      const DatePattern& dates = *cells.attribute.dates;
      if (missing(text)) {
        cells.numbers[row] = std::numeric_limits<double>::quiet_NaN();
      } else if (!dates.read(text, cells.numbers[row])) {
        return false;
      }
      continue;
    }
    const std::int32_t code = missing(text) ? kMissingCode : cells.code_of(text);
    if (code < 0 && !missing(text)) return false;
    cells.codes[row] = code;
  }
  return true;
}

bool ArffBlockReader::fill_numbers(ArffCells& cells, const csv::ColumnSlice& slice, std::int64_t first_row,
                                   std::int64_t attribute) {
  double* const out = cells.numbers.data() + first_row;
  const csv::PlainNumbers plain = kernels_.plain_numbers(slice, '.', out, rest_.data());
  if (plain.n_empty > 0) return false;
  const auto note_lost = [&](std::int64_t r) { lost_ = std::min(lost_, Cell{first_row + r, attribute}); };
  for (std::int64_t r = 0; plain.leading_zeros && r < slice.n_rows; ++r) {
    if (loses_digits(slice.field(r))) note_lost(r);
  }
  for (std::int64_t i = 0; i < plain.n_rest; ++i) {
    const std::uint32_t r = rest_[static_cast<std::size_t>(i)];
    std::string_view text;
    if (!word(slice, r, text)) return false;
    if (missing(text)) {
      out[r] = std::numeric_limits<double>::quiet_NaN();
    } else if (!parse_number(text, out[r])) {
      return false;
    } else if (loses_digits(text) || is_rounded_off(text, out[r])) {
      note_lost(r);
    }
  }
  return true;
}

// A field without the blanks around it. False if it is empty, or if blanks divide it.
bool ArffBlockReader::word(const csv::ColumnSlice& slice, std::int64_t r, std::string_view& text) const {
  text = slice.field(r);
  if (blanks_) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    if (std::any_of(text.begin(), text.end(), is_blank)) return false;
  }
  return !text.empty();
}

}  // namespace stope::io
