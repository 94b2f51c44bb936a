// Structures of the Arrow C stream interface made from random bytes give a valid table or a stope::Error, and are
// released once. A table has the values that a slow reader finds, and survives being exported and imported. The
// interface does not say how long buffers are, so that buffers have what lengths and offsets claim; all else may be
// wrong.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "arrow_oracle.hpp"
#include "fuzz_table.hpp"
#include "io/arrow/producer.hpp"
#include "mutate.hpp"
#include "stope/arrow.hpp"

namespace {

using namespace stope;
using arrow_test::Bytes;
using arrow_test::Data;

// Takes the input byte by byte; zeros follow its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), left_(size) {}
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  std::int64_t below(std::int64_t n) { return byte() % n; }
  // Once in 32 times: what a hostile producer would do.
  bool seldom() { return byte() % 32 == 31; }
  Bytes bytes(std::int64_t size) {
    Bytes made(static_cast<std::size_t>(size));
    for (char& c : made) c = static_cast<char>(byte());
    return made;
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

constexpr std::array kFormats{"g",  "f",      "e",         "c",           "C",   "s",     "S",  "i", "I",   "l",
                              "L",  "b",      "n",         "tdD",         "tdm", "tsn:",  "u",  "U", "vu",  "u",
                              "vu", "d:19,3", "d:9,-2,32", "d:76,70,256", "z",   "tsu:X", "+l", "?", "tss:"};

// What a length may be: a few elements, or what no memory holds.
std::int64_t hostile_number(Input& input) {
  constexpr std::array<std::int64_t, 6> kNumbers{-1, INT64_MIN, INT64_MAX, INT64_MAX / 2 + 1, -2, INT64_MAX / 32 + 1};
  return kNumbers[static_cast<std::size_t>(input.below(6))];
}

// Offsets into a text of `size` bytes: they may fall, or be negative, but do not leave the text behind its end.
template <class Offset>
Bytes offsets(Input& input, std::int64_t n, std::int64_t size) {
  std::vector<Offset> made;
  for (std::int64_t i = 0; i <= n; ++i) {
    const std::int64_t before = made.empty() ? 0 : std::max<std::int64_t>(made.back(), 0);
    made.push_back(
        static_cast<Offset>(input.seldom() ? input.below(size + 1) - 1 : std::min(size, before + input.below(4))));
  }
  return arrow_test::bytes(made);
}

Bytes views(Input& input, std::int64_t n) {
  Bytes made = input.bytes(n * 16);
  for (std::int64_t i = 0; i < n; ++i) {  // most are short, or lie in the first buffer
    const std::int32_t length = static_cast<std::int32_t>(input.below(20));
    const std::int32_t place[2] = {0, static_cast<std::int32_t>(input.below(16))};
    if (!input.seldom()) std::memcpy(&made[static_cast<std::size_t>(i * 16)], &length, sizeof length);
    if (!input.seldom()) std::memcpy(&made[static_cast<std::size_t>(i * 16 + 8)], place, sizeof place);
  }
  return made;
}

void fill_buffers(Input& input, Data& data, std::int64_t n) {
  constexpr std::int64_t kTextBytes = 24;
  data.buffers.clear();
  if (data.format == "n") return;
  data.buffers.emplace_back();
  if (input.below(3) == 0) {
    data.buffers[0] = input.bytes(n / 8 + 1);
    data.null_count = -1;
  }
  const bool is_view = data.format == "vu";
  if (data.format == "u" || data.format == "U" || is_view) {
    Bytes text(kTextBytes);
    for (char& c : text) c = static_cast<char>(input.seldom() ? input.byte() : 'a' + input.below(3));
    data.buffers.emplace_back(is_view              ? views(input, n)
                              : data.format == "u" ? offsets<std::int32_t>(input, n, kTextBytes)
                                                   : offsets<std::int64_t>(input, n, kTextBytes));
    data.buffers.emplace_back(std::move(text));
    if (is_view)
      data.buffers.emplace_back(arrow_test::bytes(std::vector<std::int64_t>{input.seldom() ? -1 : kTextBytes}));
  } else {
    data.buffers.emplace_back(input.bytes(n * 32));
  }
}

void fill_extent(Input& input, Data& data, std::int64_t length) {
  data.offset = input.below(4);
  data.length = length;
  fill_buffers(input, data, data.offset + data.length);
  if (input.seldom()) data.length = hostile_number(input);
  if (input.seldom()) data.offset = hostile_number(input);
  if (input.seldom()) data.null_count = input.below(4) - 2;
  if (input.seldom() && data.buffers.size() > 1) data.buffers[1].reset();
  if (input.seldom() && !data.buffers.empty()) data.buffers.pop_back();
}

Data column_of(Input& input, const std::string& format, const std::string& dictionary, std::int64_t index,
               std::int64_t length) {
  Data data;
  data.name = input.seldom() ? "" : std::string(1, static_cast<char>('a' + index));
  data.format = format;
  fill_extent(input, data, length);
  if (!dictionary.empty()) {
    Data values;
    values.format = dictionary;
    fill_extent(input, values, input.below(5));
    // Indices mostly lie in the dictionary.
    const std::size_t width = fuzz::arrow_bytes(format);
    if (data.buffers.size() == 2 && data.buffers[1].has_value() && !input.seldom()) {
      Bytes& indices = *data.buffers[1];
      std::fill(indices.begin(), indices.end(), '\0');
      const std::int64_t n = std::clamp<std::int64_t>(values.length, 1, 100);
      for (std::size_t i = 0; width > 0 && i < 10 && i * width < indices.size(); ++i)
        indices[i * width] = static_cast<char>(input.below(n));
    }
    data.dictionary = std::make_shared<Data>(std::move(values));
  }
  return data;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return fuzz::mutate_in_place(data, size, most, seed, 31);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::int64_t n_columns = input.below(4);
  const std::int64_t n_batches = input.below(3);
  std::vector<std::string> formats;
  std::vector<std::string> dictionaries;
  for (std::int64_t c = 0; c < n_columns; ++c) {
    formats.emplace_back(kFormats[static_cast<std::size_t>(input.below(kFormats.size()))]);
    constexpr std::array kDictionaries{"", "", "", "u", "U", "vu", "g"};
    dictionaries.emplace_back(kDictionaries[static_cast<std::size_t>(input.below(kDictionaries.size()))]);
  }
  const auto columns_of = [&](std::int64_t length) {
    std::vector<Data> columns;
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const auto i = static_cast<std::size_t>(c);
      columns.push_back(column_of(input, formats[i], dictionaries[i], c, length));
    }
    return columns;
  };
  const std::vector<Data> schema = columns_of(0);
  std::vector<std::vector<Data>> batches;
  for (std::int64_t b = 0; b < n_batches; ++b) batches.push_back(columns_of(input.below(6)));

  arrow_test::Released released;
  ArrowArrayStream stream = arrow_test::stream_of(batches, schema, released, input.seldom() ? 1 : -1);
  ArrowOptions options;
  options.memory = input.below(2) == 0 ? ArrowMemory::shared : ArrowMemory::copied;
  {
    const std::optional<Table> table =
        fuzz::table_or_error([&] { return import_arrow(&stream, options, fuzz::bounded_run()); });
    fuzz::require(stream.release == nullptr && released.streams == 1 && released.schemas == 1);
    if (table.has_value()) {
      std::int64_t first = 0;
      for (const std::vector<Data>& batch : batches) {
        fuzz::require_batch(*table, first, batch);
        first += batch.empty() ? 0 : batch[0].length;
      }
      fuzz::require(first == table->n_rows);
      ArrowArrayStream exported{};
      export_arrow(*table, &exported, input.below(3), fuzz::bounded_run());
      fuzz::require_equal(*table, import_arrow(&exported, {}, fuzz::bounded_run()));
    }
  }
  fuzz::require(released.batches <= static_cast<int>(batches.size()));
  return 0;
}
