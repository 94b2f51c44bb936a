// The numeric columns of files that hold arrays (NPY, fvecs, raw), and the memory that a table of a file may take.
#pragma once

#include <cstdint>

#include "io/bytes.hpp"
#include "stope/array.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// Makes the table of an array in `file`: columns "1", "2", ..., as numeric_table() says (table/array_columns.hpp). The
/// data need not be aligned. The caller has compared the sizes with the bytes of the file.
Table table_of(const ArrayView& array, const Bytes& file, const RunOptions& run);

/// The bytes that a table read from `file` may take: the memory budget less the memory that holds the file.
std::int64_t table_budget(const Bytes& file, const RunOptions& run);

}  // namespace stope::io
