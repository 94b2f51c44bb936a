// The difference filter finds exact neighbours on GPUs from sums over images in floats or bytes. It serves the measures
// that are no products (docs/numerics/filter.md). This is the host's half. The kernels are in
// src/knn/cuda/differences/. Over few columns a search through boxes (src/knn/cuda/boxes/) takes the place of sums over
// images: the same bounds, the same pipeline.
#pragma once

#include <memory>
#include <string>

#include "knn/engine/pipeline.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"

namespace stope::knn {

/// Whether the filter can serve a measure and a selection.
bool difference_filter_takes(const Fitted& fitted, const Selection& selection);

/// Says why a search cannot or should not use the filter; empty if it should.
std::string difference_filter_problem(const Fitted& fitted, const Selection& selection, std::int64_t n_queries,
                                      DifferenceForm form, const device::BackendChoice& backend, const RunOptions& run);

std::unique_ptr<SearchPipeline> make_difference_filter(const Fitted& fitted, const Plan& plan,
                                                       const Selection& selection, std::int64_t n_queries,
                                                       const RunOptions& run);

}  // namespace stope::knn
