// The gram operator on GPUs.
#pragma once

#include "device/backend.hpp"
#include "gram/operator.hpp"

namespace stope::gram {

/// Copies the rows to the GPUs once where they fit; otherwise every pass copies them anew.
std::unique_ptr<Operator> make_cuda_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                             const RunOptions& run, const device::BackendChoice& backend);

}  // namespace stope::gram
