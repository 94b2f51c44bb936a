// The blocked search behind every k-NN job. It matches columns and makes a plan. It then encodes each block of queries,
// searches it and hands the lists on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "knn/engine/pipeline.hpp"
#include "knn/fitted.hpp"
#include "knn/lists/selection.hpp"

namespace stope::knn {

/// What a job wants from the search. The search fills in the selection's groups and own rows.
struct SearchJob {
  Selection selection;
  std::string exclude_group;  ///< column of both tables; empty: no groups by name
  /// Gets the blocks whose lists the back end kept (selection.ballot, selection.in_place); those blocks do not go to
  /// the sink.
  std::function<void(const Outcome&)> outcome_sink = {};
  /// Where a search on the host puts its lists, in place of handing them to the sink; or null.
  const NeighborArrays* arrays = nullptr;
  /// Where a GPU may put its predictions by the selection's ballot, if it has the query rows; or null. They have been
  /// checked, and what they lack is null.
  const PredictionArrays* predictions = nullptr;
  std::int64_t first_query = -1;  ///< as in SearchOptions
  const Column* exclude_train = nullptr;
  const Column* exclude_query = nullptr;
};

/// Searches all rows of `queries`, handing on the lists of each block (one Neighbors per k of a heap selection).
SearchReport run_search(const Fitted& fitted, const QueryRows& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink);
/// Writes the lists to the caller's memory. The selection has one k.
SearchReport run_search(const Fitted& fitted, const QueryRows& queries, SearchJob job, const RunOptions& run,
                        const NeighborArrays& out);

/// Makes the selection for the given ks under the index's compatibility mode; checks every k. Outside
/// Compat::rapidminer one search of the largest k serves all, because the lists of smaller ks are prefixes of its
/// lists.
Selection select_nearest(const Fitted& fitted, std::vector<std::int64_t> ks, bool exclude_self);

}  // namespace stope::knn
