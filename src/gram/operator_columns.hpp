// The gram operator on the CPU for a wide matrix that lies by columns.
#pragma once

#include "device/backend.hpp"
#include "gram/operator.hpp"

namespace stope::gram {

/// Whether it is faster than writing out rows: the matrix has blocks, and rows are long.
bool suits_column_operator(const RowSource& rows);

std::unique_ptr<Operator> make_column_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                               const RunOptions& run, const device::BackendChoice& backend);

}  // namespace stope::gram
