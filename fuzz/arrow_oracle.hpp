// A slow reader of a producer's columns, to compare an imported table with: one cell at a time, from the buffers, by
// the format's letter. It knows numbers, strings and dictionaries of strings; other columns are not compared.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_table.hpp"
#include "io/arrow/producer.hpp"

namespace stope::fuzz {

inline constexpr std::string_view kArrowNumbers = "cCsSiIlLfg", kArrowNumberBytes = "1122448848";

/// Bytes of a number's format; 0 for other formats.
inline std::size_t arrow_bytes(const std::string& format) {
  const std::size_t at = format.size() == 1 ? kArrowNumbers.find(format[0]) : std::string_view::npos;
  return at == std::string_view::npos ? 0 : static_cast<std::size_t>(kArrowNumberBytes[at] - '0');
}

template <class T>
T arrow_element(const arrow_test::Data& data, std::size_t buffer, std::int64_t at) {
  T value;
  std::memcpy(&value, data.buffers[buffer]->data() + static_cast<std::size_t>(at) * sizeof value, sizeof value);
  return value;
}

inline bool arrow_missing(const arrow_test::Data& data, std::int64_t row) {
  if (data.null_count == 0 || !data.buffers[0].has_value()) return false;
  const auto bit = static_cast<std::size_t>(data.offset + row);
  return ((*data.buffers[0])[bit / 8] >> (bit % 8) & 1) == 0;
}

inline double arrow_number(const arrow_test::Data& data, std::int64_t row) {
  const std::int64_t at = data.offset + row;
  switch (data.format[0]) {
    case 'c': return arrow_element<std::int8_t>(data, 1, at);
    case 'C': return arrow_element<std::uint8_t>(data, 1, at);
    case 's': return arrow_element<std::int16_t>(data, 1, at);
    case 'S': return arrow_element<std::uint16_t>(data, 1, at);
    case 'i': return arrow_element<std::int32_t>(data, 1, at);
    case 'I': return arrow_element<std::uint32_t>(data, 1, at);
    case 'l': return static_cast<double>(arrow_element<std::int64_t>(data, 1, at));
    case 'L': return static_cast<double>(arrow_element<std::uint64_t>(data, 1, at));
    case 'f': return static_cast<double>(arrow_element<float>(data, 1, at));
    default: return arrow_element<double>(data, 1, at);
  }
}

inline std::string arrow_text(const arrow_test::Data& data, std::int64_t row) {
  const std::int64_t at = data.offset + row;
  if (data.format == "vu") {
    constexpr std::int32_t kInline = 12;
    const auto length = arrow_element<std::int32_t>(data, 1, 4 * at);
    const char* const view = data.buffers[1]->data() + 16 * at;
    if (length <= kInline) return std::string(view + 4, static_cast<std::size_t>(length));
    return std::string(data.buffers[2]->data() + arrow_element<std::int32_t>(data, 1, 4 * at + 3),
                       static_cast<std::size_t>(length));
  }
  const bool large = data.format == "U";
  const std::int64_t begin =
      large ? arrow_element<std::int64_t>(data, 1, at) : arrow_element<std::int32_t>(data, 1, at);
  const std::int64_t end =
      large ? arrow_element<std::int64_t>(data, 1, at + 1) : arrow_element<std::int32_t>(data, 1, at + 1);
  return std::string(data.buffers[2]->data() + begin, static_cast<std::size_t>(end - begin));
}

inline bool is_arrow_text(const std::string& format) {
  return format == "u" || format == "U" || format == "vu";
}

/// The text of a cell of strings or of a dictionary of strings; nothing where it is missing.
inline std::optional<std::string> arrow_value(const arrow_test::Data& data, std::int64_t row) {
  if (arrow_missing(data, row)) return std::nullopt;
  if (data.dictionary == nullptr) return arrow_text(data, row);
  const auto index = static_cast<std::int64_t>(arrow_number(data, row));
  return arrow_missing(*data.dictionary, index) ? std::nullopt : std::optional(arrow_text(*data.dictionary, index));
}

/// Requires that the rows of the table, from `first` on, are what the batch's columns say.
inline void require_batch(const Table& table, std::int64_t first, const std::vector<arrow_test::Data>& columns) {
  require(table.columns.size() == columns.size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const arrow_test::Data& data = columns[c];
    const Column& column = table.columns[c];
    const bool coded = data.dictionary != nullptr;
    const bool texts = coded ? is_arrow_text(data.dictionary->format) : is_arrow_text(data.format);
    if (!texts && (coded || arrow_bytes(data.format) == 0)) continue;
    require(column.nominal() == texts);
    for (std::int64_t row = 0; row < data.length; ++row) {
      if (!texts) {
        const double wanted = arrow_missing(data, row) ? std::nan("") : arrow_number(data, row);
        require(same_number(column.at(first + row), wanted));
        continue;
      }
      const std::optional<std::string> wanted = arrow_value(data, row);
      require(column.missing(first + row) != wanted.has_value());
      if (wanted.has_value()) require(column.values[static_cast<std::size_t>(column.codes()[first + row])] == *wanted);
    }
  }
}

}  // namespace stope::fuzz
