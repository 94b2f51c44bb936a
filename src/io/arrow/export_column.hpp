// One column made ready for Arrow: its format, its null bitmap, its dictionary. Values stay in the column's memory.
#pragma once

#include <cstdint>
#include <string>

#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io::arrow {

/// What the structures of one exported column point into. It lives as long as the last of them.
struct ExportedColumn {
  Column column;                  ///< keeps the values' memory
  std::string format;             ///< of the values; of the codes if there is a dictionary
  std::string metadata;           ///< in the interface's binary form; empty: none
  std::int64_t null_count = 0;    ///< of the whole column
  Buffer<std::uint8_t> validity;  ///< empty if nothing is missing
  const void* values = nullptr;   ///< element 0
  Buffer<std::int32_t> days;      ///< date32
  Buffer<std::int64_t> units;     ///< timestamps
  Buffer<std::int32_t> offsets;   ///< dictionary: n + 1 offsets into its text
  Buffer<char> text;

  bool has_dictionary() const { return column.nominal(); }
};

/// Prepares a column of a valid table: every code that is not missing has a name. Throws unsupported for value names of
/// more than 2 GiB together.
ExportedColumn export_column(const Column& column, const CancelToken& cancel);

}  // namespace stope::io::arrow
