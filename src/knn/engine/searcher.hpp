// What an engine is to the search: it takes blocks of queries and parts of the training table, one after the other. An
// engine that works beside the host is a SearchPipeline instead (knn/engine/pipeline.hpp).
#pragma once

#include <memory>

#include "knn/engine/plan.hpp"
#include "knn/engine/train_rows.hpp"
#include "knn/lists/selection.hpp"

namespace stope::knn {

/// How the search of a part ended.
enum class PartEnd {
  complete,
  list_too_long  ///< a list outgrew selection.longest; all lists are unusable
};

class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Offers the rows of a part to lists[query * selection.n_lists() + list], which hold what earlier parts (all rows
  /// before this one's) left there. Polls the cancel token between tiles.
  [[nodiscard]] virtual PartEnd search(const TrainPart& part, const QueryBlock& block, const Selection& selection,
                                       Lists& lists) = 0;
  /// Adds what the searches so far did: pairs scanned, skipped, listed, evaluated.
  virtual void report(SearchReport& report) const = 0;
};

}  // namespace stope::knn
