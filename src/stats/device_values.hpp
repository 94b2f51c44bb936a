// Arrays in a GPU's memory: checks that they are what the caller says, and copies them to the host.
#pragma once

#include "stope/buffer.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

/// Throws device_unavailable where CUDA is off or the GPU cannot be used. Throws invalid_argument for memory or a
/// stream that is not that GPU's, and for a RunOptions::device that names another GPU.
void check_device(const DeviceArray& array, const RunOptions& run);

/// Copies everything from the first value to the last as it lies, gaps included.
Buffer<char> download(const DeviceArray& array);

}  // namespace stope::stats
