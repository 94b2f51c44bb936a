// The tensor filter finds exact neighbours on a GPU from images in half precision or in bytes
// (docs/numerics/filter.md). This is the host's half. The kernels are in src/knn/cuda/tensor/.
#pragma once

#include <memory>
#include <string>

#include "knn/engine/pipeline.hpp"

namespace stope::knn {

/// Whether the tensor filter can serve this measure and selection at all.
bool tensor_filter_takes(const Fitted& fitted, const Selection& selection);

/// Returns how many rows of a query the filter lists. Where groups are excluded, these include those of the query's
/// group.
std::int64_t tensor_places(const Fitted& fitted, const Selection& selection);
/// Whether the host chooses from these rows (knn/gpu/found_lists.hpp).
bool tensor_lists_vary(const Selection& selection);

/// Says whether a search on GPUs uses the tensor filter, and if not, why.
Method choose_tensor_method(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                            const device::BackendChoice& backend, const RunOptions& run);

std::unique_ptr<SearchPipeline> make_tensor_filter(const Fitted& fitted, const Plan& plan, const Selection& selection,
                                                   std::int64_t n_queries, const RunOptions& run);

}  // namespace stope::knn
