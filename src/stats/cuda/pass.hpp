// The kernels of a pass: they turn values in a GPU's memory into parts there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "stats/cuda_abi.hpp"

namespace stope::stats::cuda {

/// How a pass cuts its values. Its first kernel leaves `n_parts` parts a column.
struct PassShape {
  bool by_rows = false;  ///< true: a thread has columns of its own; false: a warp has a leaf of one column
  std::int64_t n_parts = 0;
};

PassShape shape_of(const cuda_abi::Values& values);

/// Parts of the largest intermediate result, kPartBytes each: it says how much memory they take.
std::int64_t most_parts(const PassShape& shape, std::int64_t n_columns);
inline constexpr std::int64_t kPartBytes = sizeof(Part<std::int64_t>) > sizeof(Part<double>)
                                               ? sizeof(Part<std::int64_t>)
                                               : sizeof(Part<double>);

/// Queues everything. `first` and `second` hold most_parts() each. Returns the one that will hold the parts of all
/// columns, one behind the other.
void* launch_pass(const cuda_abi::Values& values, const PassShape& shape, void* first, void* second,
                  cudaStream_t stream);

}  // namespace stope::stats::cuda
