// Groups whose rows are no neighbours of each other (SearchOptions::exclude_group, exclude_train).
#pragma once

#include <cstdint>
#include <vector>

#include "knn/search/search.hpp"

namespace stope::knn {

/// A number per row; kNoGroup excludes nothing. Both are empty where no groups are excluded.
struct Groups {
  std::vector<std::int64_t> train, query;
};

/// Throws invalid_argument for a column that is missing or of another length than its rows, invalid_data for one that
/// is numeric on one side and nominal on the other.
Groups groups_of(const Fitted& fitted, const QueryRows& queries, std::int64_t n_queries, const SearchJob& job);

/// Returns a number of training rows that the groups of nearly all queries do not exceed, from a sample of the queries;
/// 0 without groups.
std::int64_t usual_group_rows(const Groups& groups);

}  // namespace stope::knn
