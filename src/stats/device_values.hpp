// Arrays in a GPU's memory: whether they are what they are said to be, and their way to the host.
#pragma once

#include "stope/buffer.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

/// Throws device_unavailable where CUDA is off or the GPU cannot be used, invalid_argument for memory or a stream that
/// is not that GPU's, and for a RunOptions::device that names another.
void check_device(const DeviceArray& array, const RunOptions& run);

/// From the first value to the last, as they lie.
Buffer<char> download(const DeviceArray& array);

}  // namespace stope::stats
