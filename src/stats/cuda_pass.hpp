// The first pass on GPUs. Values are cut into pieces that are aligned to the tree of their sums, so that it does not
// matter which GPU computes which piece.
#pragma once

#include <vector>

#include "stats/cpu_pass.hpp"
#include "stats/cuda_abi.hpp"

namespace stope::stats {

/// Whether a named GPU is worth using for that many bytes.
bool suits_gpu(std::int64_t bytes);
/// Whether a GPU can take the source as it lies: its values one behind the other, of a type it knows, and enough of
/// them.
bool suits_gpu(const Source& source);
/// Whether a GPU can take a matrix whose rows are row-major; `limit` is the memory that a GPU may use.
bool suits_gpu(const ArrayView& matrix, std::int64_t limit);

/// Like pass_over and pass_over_rows (cpu_pass.hpp). Throws device_lost, device_unavailable, out_of_memory.
template <class Wide>
std::vector<Part<Wide>> cuda_pass_over(const std::vector<Source>& sources, const PassOptions& options,
                                       const std::vector<int>& gpus, std::int64_t limit);
template <class Wide>
std::vector<Part<Wide>> cuda_pass_over_rows(const ArrayView& matrix, const PassOptions& options,
                                            const std::vector<int>& gpus, std::int64_t limit);

/// Computes an array in a GPU's memory whose type has kernels and whose strides are not negative. Adds the time that
/// the GPU worked to `seconds`.
template <class Wide>
std::vector<Part<Wide>> cuda_pass_over_device(const ArrayView& array, const PassOptions& options, double& seconds);

}  // namespace stope::stats
