#include "io/arrow/names.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/rank_texts.hpp"
#include "io/arrow/text.hpp"
#include "io/csv/text.hpp"

namespace stope::io::arrow {
namespace {

// Rows between two looks at the cancel token: about a millisecond.
constexpr std::int64_t kCancelRows = std::int64_t{1} << 16;

// Renumbers codes so that their values ascend by bytes.
void sort_values(std::vector<std::string>& values, std::int32_t* codes, std::int64_t n_rows,
                 const CancelToken& cancel) {
  const std::vector<std::int32_t> places = sort_texts(values, cancel);
  if (places.empty()) return;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    if (row % kCancelRows == 0) cancel.check();
    if (codes[row] >= 0) codes[row] = places[static_cast<std::size_t>(codes[row])];
  }
}

void read_strings(const Field& field, const std::vector<Chunk>& chunks, csv::Dictionary& dictionary,
                  const CancelToken& cancel, std::int32_t* codes) {
  std::int64_t row = 0;
  for (const Chunk& chunk : chunks) {
    const Strings strings(field, chunk, row);
    for (std::int64_t i = 0; i < chunk.length; ++i, ++row) {
      if (row % kCancelRows == 0) cancel.check();
      codes[row] = chunk.valid(i) ? code_of(dictionary, strings.at(i), row) : kMissingCode;
    }
  }
  check_utf8(dictionary, 0, field);
}

void read_booleans(const std::vector<Chunk>& chunks, const CancelToken& cancel, std::int32_t* codes) {
  std::int64_t row = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.length == 0) continue;
    const auto* const bits = static_cast<const std::uint8_t*>(chunk.array->buffers[1]);
    for (std::int64_t i = 0; i < chunk.length; ++i, ++row) {
      if (row % kCancelRows == 0) cancel.check();
      const std::int64_t bit = chunk.begin + i;
      codes[row] = chunk.valid(i) ? (bits[bit / 8] >> (bit % 8)) & 1 : kMissingCode;
    }
  }
}

// What the indices of a chunk stand for: codes of the column's dictionary.
std::vector<std::int32_t> codes_of_indices(const Field& field, const Chunk& indices, csv::Dictionary& dictionary) {
  const Chunk chunk = dictionary_of(indices, field);
  const Strings strings(field, chunk, 0);
  std::vector<std::int32_t> codes;
  const std::int32_t before = dictionary.size();
  // It grows with what is read: the length is only what the producer says.
  for (std::int64_t i = 0; i < chunk.length; ++i) {
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    codes.push_back(chunk.valid(i) ? code_of(dictionary, strings.at(i), i) : kMissingCode);
  }
  check_utf8(dictionary, before, field);
  return codes;
}

// Batches of one producer mostly have one dictionary, which need not be read again.
bool same_dictionary(const ArrowArray& a, const ArrowArray& b) {
  if (a.length != b.length || a.offset != b.offset || a.null_count != b.null_count || a.n_buffers != b.n_buffers) {
    return false;
  }
  return b.buffers != nullptr && std::equal(a.buffers, a.buffers + a.n_buffers, b.buffers);
}

[[noreturn]] void refuse_index(const Field& field, std::int64_t row, const std::string& index, std::size_t n_values) {
  field.refuse("index " + index + " is outside its dictionary of " + std::to_string(n_values) + " values", row);
}

template <class Index>
void translate(const Field& field, const Chunk& chunk, const std::vector<std::int32_t>& map, const CancelToken& cancel,
               std::int64_t row0, std::int32_t* codes) {
  for (std::int64_t i = 0; i < chunk.length; ++i) {
    if (i % kCancelRows == 0) cancel.check();
    if (!chunk.valid(i)) {
      codes[i] = kMissingCode;
      continue;
    }
    const auto index = chunk.value<Index>(1, i);
    // A negative index becomes a large one.
    if (static_cast<std::uint64_t>(index) >= map.size()) {
      refuse_index(field, row0 + i, std::to_string(index), map.size());
    }
    codes[i] = map[static_cast<std::size_t>(index)];
  }
}

void translate_any(const Field& field, const Chunk& chunk, const std::vector<std::int32_t>& map,
                   const CancelToken& cancel, std::int64_t row0, std::int32_t* codes) {
  switch (field.codes.value_or(Type{}).kind) {
    case Kind::int8: return translate<std::int8_t>(field, chunk, map, cancel, row0, codes);
    case Kind::uint8: return translate<std::uint8_t>(field, chunk, map, cancel, row0, codes);
    case Kind::int16: return translate<std::int16_t>(field, chunk, map, cancel, row0, codes);
    case Kind::uint16: return translate<std::uint16_t>(field, chunk, map, cancel, row0, codes);
    case Kind::int32: return translate<std::int32_t>(field, chunk, map, cancel, row0, codes);
    case Kind::uint32: return translate<std::uint32_t>(field, chunk, map, cancel, row0, codes);
    case Kind::int64: return translate<std::int64_t>(field, chunk, map, cancel, row0, codes);
    default: return translate<std::uint64_t>(field, chunk, map, cancel, row0, codes);
  }
}

void read_indices(const Field& field, const std::vector<Chunk>& chunks, csv::Dictionary& dictionary,
                  const CancelToken& cancel, std::int32_t* codes) {
  std::vector<std::int32_t> map;
  const ArrowArray* mapped = nullptr;
  std::int64_t row = 0;
  for (const Chunk& chunk : chunks) {
    const ArrowArray* const values = chunk.array->dictionary;
    if (mapped == nullptr || !same_dictionary(*mapped, *values)) {
      map = codes_of_indices(field, chunk, dictionary);
      mapped = values;
    }
    translate_any(field, chunk, map, cancel, row, codes + row);
    row += chunk.length;
  }
}

}  // namespace

// The dictionary reads 16 bytes of short values, and an Arrow buffer may end before.
std::int32_t code_of(csv::Dictionary& dictionary, std::string_view value, std::int64_t row) {
  if (value.size() > 16) return dictionary.find_or_add(csv::Dictionary::key_of(value), value, row);
  std::array<char, 16> padded{};
  if (!value.empty()) std::memcpy(padded.data(), value.data(), value.size());
  const std::string_view text(padded.data(), value.size());
  return dictionary.find_or_add(csv::Dictionary::key_of(text), text, row);
}

std::vector<std::string> values_of(const csv::Dictionary& dictionary) {
  std::vector<std::string> values;
  values.reserve(static_cast<std::size_t>(dictionary.size()));
  for (std::int32_t code = 0; code < dictionary.size(); ++code) values.emplace_back(dictionary.value(code));
  return values;
}

void check_utf8(const csv::Dictionary& dictionary, std::int32_t first, const Field& field) {
  for (std::int32_t code = first; code < dictionary.size(); ++code) {
    if (csv::find_invalid_utf8(dictionary.value(code)) < 0) continue;
    const std::int64_t row = dictionary.first_row(code);
    if (!field.codes.has_value()) field.refuse("its string is not UTF-8", row);
    field.refuse("value " + std::to_string(row) + " of its dictionary is not UTF-8");
  }
}

SharedCodes shared_codes(const Field& field, const Chunk& chunk, csv::MemoryMeter& meter) {
  const bool fits = field.codes.has_value() && (field.codes->kind == Kind::int32 || field.codes->kind == Kind::uint32);
  if (!fits || chunk.validity != nullptr || chunk.length == 0) return {};
  const char* const at = chunk.buffer(1) + chunk.begin * std::int64_t{sizeof(std::int32_t)};
  if (reinterpret_cast<std::uintptr_t>(at) % alignof(std::int32_t) != 0) return {};
  csv::Dictionary dictionary(meter);
  const std::vector<std::int32_t> map = codes_of_indices(field, chunk, dictionary);
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<std::int32_t>(i)) return {};
  }
  const auto* const codes = reinterpret_cast<const std::uint32_t*>(at);
  const std::uint32_t largest = *std::max_element(codes, codes + chunk.length);
  if (largest >= map.size()) return {};  // read_names says which row
  return {reinterpret_cast<const std::int32_t*>(at), values_of(dictionary)};
}

void read_names(const Field& field, const std::vector<Chunk>& chunks, NominalOrder order, csv::MemoryMeter& meter,
                const CancelToken& cancel, Column& column) {
  auto& buffer = std::get<Buffer<std::int32_t>>(column.data);
  if (field.type.kind == Kind::boolean) {
    read_booleans(chunks, cancel, buffer.data());
    column.values = std::vector<std::string>{"false", "true"};
    return;
  }
  csv::Dictionary dictionary(meter);
  if (field.codes.has_value()) {
    read_indices(field, chunks, dictionary, cancel, buffer.data());
  } else {
    read_strings(field, chunks, dictionary, cancel, buffer.data());
  }
  std::vector<std::string> values = values_of(dictionary);
  if (!field.codes.has_value() && order == NominalOrder::sorted) {
    sort_values(values, buffer.data(), buffer.size(), cancel);
  }
  column.values = std::move(values);
}

}  // namespace stope::io::arrow
