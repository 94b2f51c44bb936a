// The gram operator on the CPU.
#pragma once

#include "device/backend.hpp"
#include "gram/kernels.hpp"
#include "gram/operator.hpp"

namespace stope::gram {

std::unique_ptr<Operator> make_cpu_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                            const RunOptions& run, const device::BackendChoice& backend);

/// The loops of a back end of the CPU, and what reports say of them.
const Kernels& kernels_of(device::Backend backend);
std::string kernels_name(const device::BackendChoice& backend);
std::string kernels_reason(const device::BackendChoice& backend);

}  // namespace stope::gram
