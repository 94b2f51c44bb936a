// The tensor filter for training tables that do not fit a GPU: part by part.
#pragma once

#include <memory>

#include "knn/search_pipeline.hpp"

namespace stope::knn {

class ImageMap;

/// Rows of a part, such that two of them fit every GPU of the choice; 0 if only parts so short do that they are not
/// worth copying. The environment variable STOPE_DEVICE_ROWS lowers it (for tests).
std::int64_t cuda_part_rows(const Fitted& fitted, const ImageMap& map, std::int64_t k, std::int64_t n_queries,
                            const device::BackendChoice& backend, const RunOptions& run);

/// Whether an earlier search left parts on the GPUs that will do for this one; lets go of them if they will not.
bool cuda_parts_are_held(const Fitted& fitted, std::int64_t k, std::int64_t n_queries,
                         const device::BackendChoice& backend);

std::unique_ptr<SearchPipeline> make_cuda_filter_parts(const Fitted& fitted, const Plan& plan,
                                                       const Selection& selection, std::int64_t n_queries,
                                                       const RunOptions& run);

}  // namespace stope::knn
