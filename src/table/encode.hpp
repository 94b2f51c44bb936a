// Encoding: rows of matched columns as row-major doubles, the form the formulas read. Missing = NaN, nominal = code.
#pragma once

#include <cstdint>
#include <vector>

#include "table/match.hpp"

namespace stope {

/// Writes rows [begin, end) of the matched columns to out[(row - begin) * columns.size() + column]. Throws what
/// check_codes() throws: the codes are read here anyway.
void encode_rows(const std::vector<MatchedColumn>& columns, std::int64_t begin, std::int64_t end, double* out);

}  // namespace stope
