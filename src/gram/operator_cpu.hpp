// The gram operator on the CPU.
#pragma once

#include "device/backend.hpp"
#include "gram/operator.hpp"

namespace stope::gram {

std::unique_ptr<Operator> make_cpu_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                            const RunOptions& run, const device::BackendChoice& backend);

}  // namespace stope::gram
