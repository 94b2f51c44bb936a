// The reference engine of the CPU. It computes every distance by the measure's own formula in double precision, in
// blocks, on all cores. Every fast engine must return its bits.
#pragma once

#include <memory>

#include "base/thread_pool.hpp"
#include "knn/engine/distance_matrix.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

/// The pool outlives the searcher, which works in it while it searches.
std::unique_ptr<Searcher> make_reference_searcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool,
                                                  const RunOptions& run);
std::unique_ptr<DistanceMatrix> make_reference_matrix(const Fitted& fitted, const Plan& plan, const RunOptions& run);

}  // namespace stope::knn
