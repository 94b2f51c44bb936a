// Bytes as a CSV file give a valid table or a stope::Error. Every instruction set of this machine gives the same
// result, so do other chunks, and so does the slow oracle where it applies.
//
// The first four bytes choose options and tuning, the rest is the file.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuzz_table.hpp"
#include "io/csv/reader.hpp"
#include "io/csv/text.hpp"
#include "mutate_text.hpp"
#include "oracle/csv_oracle.hpp"

namespace {

using namespace stope;

using fuzz::require;
using fuzz::same_number;

struct Outcome {
  Table table;
  std::string error;
};

Outcome read(const std::string& text, const ReadOptions& options, const io::csv::Tuning& tuning) {
  RunOptions run;
  run.threads = 1;
  run.memory_limit = std::int64_t{1} << 28;
  run.warn = [](std::string_view code, std::string_view sentence) { require(!code.empty() && !sentence.empty()); };
  Outcome outcome;
  try {
    outcome.table = io::csv::read({text, nullptr, "fuzz", 0}, options, nullptr, run, tuning);
    outcome.table.validate();
  } catch (const Error& error) {
    require(error.code() != ErrorCode::internal && error.code() != ErrorCode::out_of_memory);
    outcome.error = error.what();
    require(!outcome.error.empty());
  }
  return outcome;
}

void require_equal(const Outcome& a, const Outcome& b) {
  require(a.error == b.error);
  require(a.table.n_rows == b.table.n_rows && a.table.columns.size() == b.table.columns.size());
  for (std::size_t c = 0; c < a.table.columns.size(); ++c) {
    const Column& left = a.table.columns[c];
    const Column& right = b.table.columns[c];
    require(left.name == right.name && left.type == right.type && left.values == right.values);
    for (std::int64_t r = 0; r < a.table.n_rows; ++r) require(same_number(left.at(r), right.at(r)));
  }
}

void require_oracle(const Outcome& outcome, const std::string& text, const ReadOptions& options) {
  const oracle::CsvTable expected = oracle::read_csv(
      text, {options.separator, options.header == Header::yes, options.decimal == '\0' ? '.' : options.decimal,
             options.decimal == '\0' && options.separator == ';'});
  require(expected.malformed == !outcome.error.empty());
  if (expected.malformed) return;
  const Table& table = outcome.table;
  require(table.n_rows == static_cast<std::int64_t>(expected.n_rows));
  require(table.columns.size() == expected.columns.size());
  for (std::size_t c = 0; c < expected.columns.size(); ++c) {
    const Column& column = table.columns[c];
    const oracle::CsvColumn& wanted = expected.columns[c];
    require(column.name == wanted.name && column.nominal() == !wanted.numeric);
    require((column.type == ValueType::date) == wanted.dates);
    if (column.nominal()) require(column.values == wanted.sorted_values);
    for (std::size_t r = 0; r < expected.n_rows; ++r) {
      const auto row = static_cast<std::int64_t>(r);
      if (!column.nominal()) {
        require(same_number(column.at(row), wanted.numbers[r]));
      } else if (wanted.values[r].has_value()) {
        require(column.values[static_cast<std::size_t>(column.codes()[row])] == *wanted.values[r]);
      } else {
        require(column.missing(row));
      }
    }
  }
}

// What fields of CSV are replaced by.
constexpr std::string_view kWords[] = {"?",
                                       "NA",
                                       "NaN",
                                       "\"NA\"",
                                       "\"\"",
                                       "\"",
                                       "a",
                                       "true",
                                       "false",
                                       "2020-02-29",
                                       "2019-01-01T00:00:00Z",
                                       "-0001-01-01",
                                       "2020-01-01 10:11:12.1234567+01:30",
                                       "1,5",
                                       "1.234,5",
                                       "1 000",
                                       "\"a\r\nb\"",
                                       "\"a\"\"b\"",
                                       " x ",
                                       "\t",
                                       "sep=;\n",
                                       "\xEF\xBB\xBF",
                                       "\xC3\xA9",
                                       "\xED\xA0\x80",
                                       "\xF0\x9F\x98\x80",
                                       "\r",
                                       "#",
                                       "00",
                                       "01234567890123456",
                                       "1234567890123456"};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return fuzz::mutate_text(data, size, most, seed, 4, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 4, size - 4);
  ReadOptions options;
  options.separator = "\0,;\t"[data[0] & 3];
  options.header = data[0] & 4 ? Header::yes : data[0] & 8 ? Header::no : Header::automatic;
  options.decimal = data[0] & 16 ? (options.separator != ',' ? ',' : '.') : '\0';
  options.encoding = (data[0] & 96) == 32 ? Encoding::latin1 : (data[0] & 96) == 64 ? Encoding::utf16 : Encoding::utf8;
  if (data[0] & 128) options.nominal_order = NominalOrder::appearance;
  int n_kernels = 0;
  const io::csv::Kernels* const* kernels = io::csv::available_kernels(&n_kernels);
  io::csv::Tuning tuning;
  tuning.chunk_bytes = 1 + data[1] % 80;
  tuning.batch_fields = 1 + data[2] % 32;
  tuning.tile_width = data[3] & 64 ? 1 + data[3] % 7 : data[3] & 128 ? -1 : 0;
  tuning.kept_texts = data[2] & 32 ? 1 : 0;
  tuning.kernels = kernels[0];
  if (data[1] >= 240) options.comment = '#';
  if (data[2] >= 240) options.skip_lines = data[2] - 240;

  const Outcome outcome = read(text, options, tuning);
  for (int level = 1; level < n_kernels; ++level) {
    tuning.kernels = kernels[level];
    require_equal(outcome, read(text, options, tuning));
  }
  // One chunk and the best kernels. Batches are short, since clearing the buffers of long ones would take most of the
  // time.
  require_equal(outcome, read(text, options, {.chunk_bytes = 1 << 20, .batch_fields = 64}));
  const bool plain = options.comment == '\0' && options.skip_lines == 0 && !text.starts_with("sep=") &&
                     !text.starts_with("SEP=") && options.encoding == Encoding::utf8 && options.separator != '\0' &&
                     options.header != Header::automatic && options.nominal_order == NominalOrder::sorted &&
                     text.find('\0') == std::string::npos && io::csv::find_invalid_utf8(text) < 0 &&
                     !text.starts_with("\xEF\xBB\xBF");
  if (plain) require_oracle(outcome, text, options);
  return 0;
}
