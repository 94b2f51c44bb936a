// The gram operator under --device auto: it stays on the CPU until a GPU pays.
#pragma once

#include <memory>

#include "gram/operator.hpp"

namespace stope::gram {

/// `n_expected`: vectors that it will multiply, as far as the caller knows.
std::unique_ptr<Operator> make_auto_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                             const RunOptions& run, std::int64_t n_expected);

}  // namespace stope::gram
