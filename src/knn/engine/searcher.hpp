// The interface of an engine that takes blocks of queries and parts of the training table one after the other. An
// engine whose work overlaps the host's is a SearchPipeline instead (knn/engine/pipeline.hpp).
#pragma once

#include <memory>

#include "knn/engine/plan.hpp"
#include "knn/engine/train_rows.hpp"
#include "knn/lists/lists.hpp"
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
  /// Offers the rows of a part to list number query * selection.n_lists() + list. These lists hold what earlier parts
  /// left there, and those parts' rows all come before this part's. Polls the cancel token between tiles.
  [[nodiscard]] virtual PartEnd search(const TrainPart& part, const QueryBlock& block, const Selection& selection,
                                       Lists& lists) = 0;
  /// Adds the work of the searches so far: pairs scanned, skipped, listed, evaluated.
  virtual void report(SearchReport& report) const = 0;
};

}  // namespace stope::knn
