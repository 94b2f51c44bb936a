// Random bytes as a schema file give a valid schema or a stope::Error. The first byte chooses the part.
#include <unordered_set>

#include "fuzz_table.hpp"
#include "io/readers.hpp"
#include "mutate_json.hpp"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static constexpr std::string_view kWords[] = {
      "columns",   "name",    "type",      "role",  "values", "missing_token", "numeric", "integer", "real",
      "date",      "nominal", "binominal", "label", "id",     "polynominal",   "weight",  "ignore",  "regular",
      "attribute", "train",   "test",      "?",     ""};
  return stope::fuzz::mutate_json(data, size, most, seed, 1, kWords);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stope;
  if (size < 1) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const Schema schema = io::parse_schema(json, data[0] & 1 ? "test" : "train", "fuzz");
    fuzz::require(!schema.columns.empty());
    std::unordered_set<std::string> names;
    for (const ColumnSpec& column : schema.columns) {
      fuzz::require(!column.name.empty() && names.insert(column.name).second);
      fuzz::require(is_nominal(column.type) || column.values.empty());
      const std::unordered_set<std::string> values(column.values.begin(), column.values.end());
      fuzz::require(values.size() == column.values.size());
    }
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::invalid_data);
  }
  return 0;
}
