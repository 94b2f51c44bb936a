// The query rows of a search as it encodes them (stope/knn_arrays.hpp).
#pragma once

#include <memory>
#include <vector>

#include "knn/engine/query_source.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {

/// Checks the rows and matches their columns with the index's. The source refers to `rows` and to the index. Throws
/// invalid_data for a missing or mistyped column of a table, invalid_argument for an array of other columns, and what
/// checked_array() and check_gpu_array() throw.
std::unique_ptr<QuerySource> make_query_source(const Fitted& fitted, const QueryRows& rows, const RunOptions& run);

/// The number of query rows, for results that are made before the search. Throws invalid_argument for a table or an
/// array that contradicts itself.
std::int64_t checked_rows(const Fitted& fitted, const QueryRows& rows);

/// The columns that an index compares, of an array whose columns are the training table's features. Throws
/// invalid_argument if the array has more or fewer, or if one that is compared is nominal.
std::vector<std::int64_t> compared_columns(const Fitted& fitted, const ArrayView& array);

}  // namespace stope::knn
