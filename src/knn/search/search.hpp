// The blocked search behind every k-NN job: match, plan, encode a block of queries, search it, hand the lists on.
#pragma once

#include <functional>
#include <vector>

#include "knn/engine/pipeline.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

/// What a job asks of the search; `selection.train_groups` is filled in here from `exclude_group`.
struct SearchJob {
  Selection selection;
  std::string exclude_group;  ///< column of both tables; empty = none
  /// Gets, in place of the sink, the blocks whose lists the back end kept (selection.ballot, selection.device).
  std::function<void(const Outcome&)> outcome_sink = {};
};

/// Searches all rows of `queries`, handing on the lists of each block (one Neighbors per k of a heap selection).
SearchReport run_search(const Fitted& fitted, const Table& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink);
/// The same of rows in a GPU's memory.
SearchReport run_search(const Fitted& fitted, const DeviceQueries& queries, const SearchJob& job, const RunOptions& run,
                        const std::function<void(std::vector<Neighbors>&)>& sink);

/// The selection for the given ks under the index's compatibility mode; checks every k. Outside Compat::rapidminer one
/// search of the largest k serves all: the lists of smaller ones are its prefixes.
Selection select_nearest(const Fitted& fitted, std::vector<std::int64_t> ks, bool exclude_self);

}  // namespace stope::knn
