// Which way a search goes: every distance by the formula, or a filter first; rows as they stand, or near rows together.
// The answer never changes a result. Printed by --explain.
#pragma once

#include <cstdint>
#include <string>

#include "device/backend.hpp"
#include "knn/engine/searcher.hpp"
#include "knn/fitted.hpp"

namespace stope::knn {

Method choose_method(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                     const device::BackendChoice& backend, const RunOptions& run);

}  // namespace stope::knn
