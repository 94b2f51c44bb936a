// The columns of a table, filled group after group by all threads. Each batch is copied to its place while it is in the
// cache and then dropped, so that a table takes its own memory and that of a few batches.
#pragma once

#include <cstdint>
#include <vector>

#include "io/arrow/schema.hpp"
#include "io/columnar/plugin_file.hpp"
#include "stope/io.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io::columnar {

/// What is read from a file.
struct Selection {
  std::vector<std::int64_t> columns;  ///< places in the file, ascending
  std::vector<arrow::Field> fields;   ///< what the file declares them as
};

/// Reads the chosen columns of a prepared file, whose groups say how many rows they have. Throws invalid_data,
/// unsupported, out_of_memory, cancelled.
Table fill(const PluginFile& file, const Selection& selection, const StopeFilesFacts& facts, NominalOrder order,
           const RunOptions& run);

}  // namespace stope::io::columnar
