// Chooses the engine of a search: every distance by the formula, or a filter first. It also chooses the order of the
// rows: as in the table, or near rows together. The choice never changes a result. --explain prints it.
#pragma once

#include <cstdint>

#include "device/backend.hpp"
#include "knn/engine/plan.hpp"
#include "knn/fitted.hpp"
#include "knn/lists/selection.hpp"

namespace stope::knn {

Method choose_method(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                     const device::BackendChoice& backend, const RunOptions& run);

}  // namespace stope::knn
