// NumPy's .npy, versions 1.0 to 3.0 (format: numpy/lib/format.py, "Format Version 1.0"): magic, header length, a Python
// dict literal, the array. The parser of the dict knows its three keys and no other Python.
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "io/raw_columns.hpp"
#include "io/readers.hpp"

namespace stope::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::int64_t kMaxHeaderBytes = 65536;  // NumPy writes 128 and itself refuses more than 10,000
// An array without elements can claim any number of columns, with no bytes to prove it.
constexpr std::int64_t kMaxEmptyColumns = 65536;

struct NpyHeader {
  ElementType type = ElementType::float64;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Parser of the header's dict. Positions in messages are bytes of the file.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::int64_t offset, const std::string& name)
      : text_(text), offset_(offset), name_(name) {}

  NpyHeader parse() {
    std::optional<ElementType> type;
    std::optional<bool> fortran_order;
    std::optional<std::vector<std::int64_t>> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !type) {
        type = descr();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        fail("the key '" + std::string(key) + "' is unknown or repeated");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (position_ != text_.size()) fail("text after the dict");
    if (!type || !fortran_order || !shape) fail("one of 'descr', 'fortran_order', 'shape' is not there");
    return {*type, *fortran_order, std::move(*shape)};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorCode::invalid_data,
                "header at byte " + std::to_string(offset_ + static_cast<std::int64_t>(position_)) + ": " + message,
                {name_});
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) ++position_;
  }

  bool accept(char c) {
    skip_blanks();
    if (position_ >= text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }

  std::string_view string() {
    const char quote = accept('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail("unterminated string");
    const std::string_view content = text_.substr(position_, end - position_);
    // A quotation in a message must not carry control characters to a terminal.
    for (const char c : content) {
      if (c < ' ' || c > '~' || c == '\\') fail("a string holds an unexpected character");
    }
    position_ = end + 1;
    return content;
  }

  bool word(std::string_view expected) {
    skip_blanks();
    if (text_.substr(position_, expected.size()) != expected) return false;
    position_ += expected.size();
    return true;
  }

  bool boolean() {
    if (word("True")) return true;
    if (!word("False")) fail("'fortran_order' is neither True nor False");
    return false;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::int64_t size = 0;
      const char* begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc{} || size < 0) fail("a size of the shape is not a number from 0 to 2^63-1");
      position_ += static_cast<std::size_t>(end - begin);
      if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2 wrote an L behind long integers
      sizes.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  ElementType descr() {
    skip_blanks();
    if (position_ < text_.size() && text_[position_] == '[') {
      throw Error(ErrorCode::unsupported, "structured arrays are not supported", {name_});
    }
    const std::string_view text = string();
    constexpr std::array<std::pair<std::string_view, ElementType>, 10> kTypes = {{{"f4", ElementType::float32},
                                                                                  {"f8", ElementType::float64},
                                                                                  {"i1", ElementType::int8},
                                                                                  {"i2", ElementType::int16},
                                                                                  {"i4", ElementType::int32},
                                                                                  {"i8", ElementType::int64},
                                                                                  {"u1", ElementType::uint8},
                                                                                  {"u2", ElementType::uint16},
                                                                                  {"u4", ElementType::uint32},
                                                                                  {"b1", ElementType::uint8}}};
    const std::string dtype(text.substr(0, 40));
    if (!text.empty() && text.front() == '>') {
      throw Error(ErrorCode::unsupported, "dtype '" + dtype + "' is big-endian", {name_});
    }
    const bool has_order = !text.empty() && (text.front() == '<' || text.front() == '|' || text.front() == '=');
    for (const auto& [code, type] : kTypes) {
      if (text.substr(has_order ? 1 : 0) == code) return type;
    }
    throw Error(ErrorCode::unsupported,
                "dtype '" + dtype + "' is not supported (f4, f8, i1, i2, i4, i8, u1, u2, u4 and b1 are)", {name_});
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::int64_t offset_;
  const std::string& name_;
};

NpyHeader read_header(ByteReader& reader, const std::string& name) {
  if (reader.remaining() < static_cast<std::int64_t>(kMagic.size()) ||
      reader.take(static_cast<std::int64_t>(kMagic.size()), "the magic string") != kMagic) {
    throw Error(ErrorCode::invalid_data, "not an NPY file: it does not begin with \\x93NUMPY", {name});
  }
  const int major = reader.read<std::uint8_t>("the version");
  const int minor = reader.read<std::uint8_t>("the version");
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(
        ErrorCode::unsupported,
        "NPY version " + std::to_string(major) + "." + std::to_string(minor) + " (1.0, 2.0 and 3.0 are supported)",
        {name});
  }
  const std::int64_t length = major == 1 ? std::int64_t{reader.read<std::uint16_t>("the header length")}
                                         : static_cast<std::int64_t>(reader.read<std::uint32_t>("the header length"));
  if (length > kMaxHeaderBytes) {
    throw Error(
        ErrorCode::invalid_data,
        "a header of " + std::to_string(length) + " bytes (at most " + std::to_string(kMaxHeaderBytes) + " are read)",
        {name});
  }
  const std::int64_t offset = reader.position();
  return HeaderParser(reader.take(length, "the header"), offset, name).parse();
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size() && i < 8; ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() > 8 ? ", ...)" : ")");
}

}  // namespace

Table read_npy(const Bytes& bytes, const RunOptions& run) {
  ByteReader reader(bytes.view, bytes.name);
  const NpyHeader header = read_header(reader, bytes.name);
  const std::string shape = shape_text(header.shape);
  if (header.shape.empty() || header.shape.size() > 2) {
    throw Error(ErrorCode::unsupported, "an array of shape " + shape + " is not a table (1 or 2 dimensions)",
                {bytes.name});
  }
  const std::int64_t n_rows = header.shape[0];
  const std::int64_t n_columns = header.shape.size() == 2 ? header.shape[1] : 1;
  if (n_columns == 0 || (n_rows == 0 && n_columns > kMaxEmptyColumns)) {
    throw Error(ErrorCode::invalid_data, "an array of shape " + shape + " holds no data", {bytes.name});
  }

  // Two divisions instead of a product: the shape may be any lie, and divisions cannot overflow.
  const std::int64_t item_bytes = size_of(header.type);
  const std::int64_t there = reader.remaining();
  const std::int64_t rows_there = there / item_bytes / n_columns;
  if (n_rows > rows_there || n_rows * n_columns * item_bytes != there) {
    throw Error(ErrorCode::invalid_data,
                "an array of shape " + shape + " with " + std::to_string(item_bytes) +
                    " bytes an element does not fit the " + std::to_string(there) + " bytes after the header",
                {bytes.name});
  }
  ArrayView array{bytes.view.data() + reader.position(), header.type, n_rows, n_columns, n_columns};
  if (header.fortran_order) {
    array.row_stride = 1;
    array.column_stride = n_rows;
  }
  return table_of(array, bytes, run);
}

}  // namespace stope::io
