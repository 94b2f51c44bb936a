// Tables to Parquet and Arrow IPC, through the plug-in for files: whole ones, and those that come in parts.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "io/arrow/schema.hpp"
#include "io/write_table_formats.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// Whether write_columnar writes the format.
constexpr bool is_columnar(Format format) {
  return format == Format::parquet || format == Format::arrow;
}

/// Writes a whole table. What goes to a pipe or to a file of the suffix .arrows is an Arrow stream; any other Arrow
/// file has one batch, so that it can be mapped, unless memory is short. Throws unsupported without the plug-in.
void write_columnar(Format format, const Table& table, const std::string& path, const ByteSink& sink,
                    const RunOptions& run);

/// A table that comes in parts with the same columns and value lists.
class ColumnarParts {
 public:
  /// The first part says what the columns are. `path` stands in messages. The sink outlives this object.
  ColumnarParts(Format format, const Table& first, const std::string& path, ByteSink sink, const RunOptions& run);
  ~ColumnarParts();
  ColumnarParts(const ColumnarParts&) = delete;
  ColumnarParts& operator=(const ColumnarParts&) = delete;

  /// Throws unsupported if dates of this part have another unit than those of the first.
  void append(const Table& part, const RunOptions& run);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stope::io
