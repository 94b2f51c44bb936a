// Makes the engine that searches, from a fitted table and a plan. Every engine is made here.
#pragma once

#include <cstdint>
#include <memory>

#include "base/thread_pool.hpp"
#include "knn/engine/distance_matrix.hpp"
#include "knn/engine/pipeline.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

/// Returns the back end of a job: the one chosen for the run (device/backend.hpp), or the CPU's best where that one has
/// no kernel for the measure. The choice then says so. For --device auto a search decides by its size
/// (auto_device.hpp); a job that gives no size gets the CPU.
device::BackendChoice backend_for(const Fitted& fitted, const RunOptions& run);
device::BackendChoice backend_for(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                  const RunOptions& run);

/// Makes an engine that is not pipelined. On the CPU it works in `pool`, which outlives it.
std::unique_ptr<Searcher> make_searcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool,
                                        const RunOptions& run);

/// Makes an engine that is pipelined; throws out_of_memory where the plan turns out not to fit a GPU.
std::unique_ptr<SearchPipeline> make_pipeline(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                              std::int64_t n_queries, const RunOptions& run);

/// Makes an engine that does not filter.
std::unique_ptr<DistanceMatrix> make_matrix(const Fitted& fitted, const Plan& plan, const RunOptions& run);

}  // namespace stope::knn
