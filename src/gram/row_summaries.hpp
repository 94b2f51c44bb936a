// Two passes over the rows of an array where they lie: means and spreads of its columns, as ColumnSummaries has them.
#pragma once

#include <optional>
#include <vector>

#include "base/thread_pool.hpp"
#include "gram/column_summaries.hpp"
#include "stope/array.hpp"
#include "stope/run.hpp"

namespace stope::gram {

/// The summaries of the columns of float32 or float64 rows in the host's memory, the columns side by side; the row
/// stride is set. They have the bits of ColumnSummaries. Nothing where a value is missing or infinite, or a sum or
/// deviation overflows.
std::optional<std::vector<ColumnSummary>> summaries_of_rows(const ArrayView& rows, ThreadPool& pool,
                                                            const CancelToken& cancel);

}  // namespace stope::gram
