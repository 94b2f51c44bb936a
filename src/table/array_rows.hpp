// Rows of an array as row-major doubles, the form the formulas read: the counterpart of encode_rows (table/encode.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "stope/array.hpp"

namespace stope {

/// Writes rows [begin, end) of an array in the host's memory to out[(row - begin) * columns.size() + i]: the values of
/// the i-th of `columns`. The array's row stride must be set (base/array.hpp). Throws unsupported for an int64 beyond
/// 2^53, and names it by `first_row` + row.
void encode_rows(const ArrayView& array, const std::vector<std::int64_t>& columns, std::int64_t begin, std::int64_t end,
                 double* out, std::int64_t first_row = 0);

/// Whether the rows are doubles one after the other, as encode_rows would write them for all columns.
bool is_encoded(const ArrayView& array);

}  // namespace stope
