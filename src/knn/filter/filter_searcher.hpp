// The filter engine of the CPU. A float image of every row bounds its distance, and only rows that the bound cannot
// rule out are evaluated with the measure's own formula.
#pragma once

#include <memory>

#include "base/thread_pool.hpp"
#include "knn/engine/searcher.hpp"

namespace stope::knn {

/// The plan's back end says which instruction set scans the images. The pool outlives the searcher, which works in it
/// while it searches.
std::unique_ptr<Searcher> make_filter_searcher(const Fitted& fitted, const Plan& plan, ThreadPool& pool,
                                               const RunOptions& run);

}  // namespace stope::knn
