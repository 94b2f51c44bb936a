// The kernels of a pass: values in a GPU's memory to parts there.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "stats/cuda_abi.hpp"

namespace stope::stats::cuda {

/// How a pass cuts its values, and the parts that its first kernel leaves: `n_parts` a column.
struct PassShape {
  bool by_rows = false;  ///< a thread has columns of its own; else a warp has a leaf of one column
  std::int64_t n_parts = 0;
};

PassShape shape_of(const cuda_abi::Values& values);

/// Parts of the largest intermediate result, for the memory they take: kPartBytes each.
std::int64_t most_parts(const PassShape& shape, std::int64_t n_columns);
inline constexpr std::int64_t kPartBytes = sizeof(Part<std::int64_t>) > sizeof(Part<double>)
                                               ? sizeof(Part<std::int64_t>)
                                               : sizeof(Part<double>);

/// Queues everything: `first` and `second` hold most_parts() each; returns which of them has the parts of all columns,
/// one behind the other, in the end.
void* launch_pass(const cuda_abi::Values& values, const PassShape& shape, void* first, void* second,
                  cudaStream_t stream);

}  // namespace stope::stats::cuda
