// The interface every back end of the search implements, and the table that makes them.
#pragma once

#include <cstdint>
#include <memory>

#include "knn/engine/plan.hpp"
#include "knn/engine/train_rows.hpp"
#include "knn/lists/selection.hpp"

namespace stope::knn {

class Searcher {
 public:
  virtual ~Searcher() = default;
  /// Offers the rows of a part to lists[query * selection.n_lists() + list], which hold what earlier parts (all rows
  /// before this one's) left there. Polls the cancel token between tiles.
  virtual void search(const TrainPart& part, const QueryBlock& block, const Selection& selection, Lists& lists) = 0;
  /// values[i * ld + j] for every query i of the block and row j of the part.
  virtual void matrix(const TrainPart& part, const QueryBlock& block, Quantity quantity, PairOrder order,
                      double* values, std::int64_t ld) = 0;
  /// Adds what the searches so far did: pairs scanned, skipped, listed, evaluated.
  virtual void report(SearchReport& report) const = 0;
};

/// The back end of a search: the one chosen for the run (device/backend.hpp), or the processor's best where that one
/// has no kernel for the measure; BackendChoice::reason then says so. For --device auto the search decides
/// (auto_device.hpp); without one it is the processor.
device::BackendChoice backend_for(const Fitted& fitted, const RunOptions& run);
device::BackendChoice backend_for(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                  const RunOptions& run);

/// The plan's back end for a fitted table.
std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);

std::unique_ptr<Searcher> make_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);
std::unique_ptr<Searcher> make_gpu_reference_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);
std::unique_ptr<Searcher> make_filter_searcher(const Fitted& fitted, const Plan& plan, const RunOptions& run);

}  // namespace stope::knn
