// A sample of a table's rows.
#pragma once

#include <cstdint>

#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope::io {

/// Keeps `n` rows, in their order; each set of rows is equally likely, and the seed decides. 0, or at least as many as
/// there are, keeps all. Throws invalid_argument for a negative n.
Table sample_rows(Table table, std::int64_t n, std::uint64_t seed, const RunOptions& run);

}  // namespace stope::io
