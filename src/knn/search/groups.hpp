// Groups whose rows are no neighbours of each other (SearchOptions::exclude_group, exclude_train).
#pragma once

#include <cstdint>

#include "knn/search/search.hpp"
#include "stope/buffer.hpp"

namespace stope::knn {

/// A number per row; kNoGroup excludes nothing. Both are empty where no groups are excluded.
struct Groups {
  Buffer<std::int64_t> train, query;
  bool given = false;  ///< with the search: no later search has `train`, and its memory may be used again
};

/// Throws invalid_argument for a column that is missing or of another length than its rows, invalid_data for one that
/// is numeric on one side and nominal on the other. The groups by a column of the training table are numbered once for
/// an index. Those given with a search cost a pass over the training rows, by up to run.threads threads.
Groups groups_of(const Fitted& fitted, const QueryRows& queries, std::int64_t n_queries, const SearchJob& job,
                 const RunOptions& run);

/// Returns a number of training rows that the groups of nearly all queries do not exceed, from a sample of the queries;
/// 0 without groups.
std::int64_t usual_group_rows(const Groups& groups, const RunOptions& run);

}  // namespace stope::knn
