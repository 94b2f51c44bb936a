// Random bytes as an ARFF file give a valid table or a stope::Error. A table survives being written and read, as ARFF
// and (under a schema that keeps its types) as CSV.
//
// The first byte chooses options, the rest is the file.
#include "fuzz_table.hpp"
#include "io/readers.hpp"
#include "io/write_table_formats.hpp"
#include "mutate_text.hpp"

namespace {

using namespace stope;

void require_arff_round_trip(const Table& table) {
  std::string text;
  io::write_arff(table, fuzz::bounded_run(), [&](std::string_view piece) { text += piece; });
  const std::optional<Table> back =
      fuzz::table_or_error([&] { return io::read_arff({text, nullptr, "again", 0}, {}, fuzz::bounded_run()); });
  fuzz::require(back.has_value());
  fuzz::require_equal(table, *back);
  for (std::size_t c = 0; c < table.columns.size(); ++c) fuzz::require(table.columns[c].type == back->columns[c].type);
}

/// CSV cannot tell an empty value from a missing one, and cannot hold a NUL.
bool fits_csv(const Table& table) {
  for (const Column& column : table.columns) {
    if (column.name.find('\0') != std::string::npos) return false;
    for (const std::string& value : column.values) {
      if (value.empty() || value.find('\0') != std::string::npos) return false;
    }
  }
  return true;
}

void require_csv_round_trip(const Table& table) {
  Schema schema;
  for (const Column& column : table.columns)
    schema.columns.push_back({column.name, column.type, Role::regular, column.values});
  std::string text;
  io::write_csv(table, ',', fuzz::bounded_run(), [&](std::string_view piece) { text += piece; });
  ReadOptions options;
  options.separator = ',';
  options.header = Header::yes;
  const std::optional<Table> back = fuzz::table_or_error(
      [&] { return io::read_csv({text, nullptr, "again", 0}, options, &schema, fuzz::bounded_run()); });
  fuzz::require(back.has_value());
  Table wanted = table;
  for (std::size_t c = 0; c < wanted.columns.size(); ++c) {
    // An empty list would let the reader collect values, but there are none to collect.
    if (wanted.columns[c].nominal() && wanted.columns[c].values.empty())
      wanted.columns[c].values = back->columns[c].values;
  }
  fuzz::require_equal(wanted, *back);
}

// What fields of ARFF are replaced by.
constexpr std::string_view kWords[] = {"@relation",
                                       "@attribute",
                                       "@data",
                                       "@end",
                                       "@inputs a",
                                       "@outputs b",
                                       "real",
                                       "numeric",
                                       "integer",
                                       "string",
                                       "date",
                                       "date \"yyyy-MM-dd HH:mm:ss\"",
                                       "date 'dd.MM.yyyy'",
                                       "2020-02-29",
                                       "relational",
                                       "{a,b}",
                                       "{'a b', \"c\"}",
                                       "{}",
                                       "{0 1, 1 b}",
                                       "{1 ?}",
                                       "{5 7}",
                                       "{0 1,0 2}",
                                       "?",
                                       "%",
                                       "'\\u0041'",
                                       "'\\''",
                                       "a",
                                       "b",
                                       "x",
                                       "{2}",
                                       "\xEF\xBB\xBF"};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return stope::fuzz::mutate_text(data, size, most, seed, 1, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ReadOptions options;
  if (data[0] & 1) options.nominal_order = NominalOrder::appearance;
  if ((data[0] & 14) == 2) options.encoding = Encoding::latin1;
  if ((data[0] & 14) == 4) options.encoding = Encoding::utf16;
  const std::optional<Table> table =
      fuzz::table_or_error([&] { return io::read_arff({text, nullptr, "fuzz", 0}, options, fuzz::bounded_run()); });
  if (!table.has_value()) return 0;
  require_arff_round_trip(*table);
  if (fits_csv(*table)) require_csv_round_trip(*table);
  return 0;
}
