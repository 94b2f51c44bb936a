// Arrays in a GPU's memory that the caller owns: checks that they are what the caller says, and copies to the host.
#pragma once

#include <cstdint>
#include <string_view>

#include "stope/array.hpp"
#include "stope/run.hpp"

namespace stope::device {

/// Throws device_unavailable where CUDA is off or the GPU cannot be used, and invalid_argument for a GPU that is not
/// there. `what` names what lies in its memory, e.g. "the array".
void check_gpu(int gpu, std::string_view what);

/// Throws invalid_argument unless the bytes are the GPU's memory.
void check_gpu_memory(const void* memory, std::int64_t bytes, int gpu, std::string_view what);

/// All that a job checks of a GPU's array before it reads it: the GPU, its memory and its stream, and that
/// RunOptions::device, if it names GPUs, names this one. The array has been through checked_array (base/array.hpp).
void check_gpu_array(const ArrayView& array, std::string_view what, const RunOptions& run);

/// The array in the host's memory, which its owner frees. Rows or columns that lie close are copied without the gaps
/// between them. Waits for what the array's stream has queued. Throws out_of_memory where the copy exceeds the memory
/// limit, device_lost and cancelled.
ArrayView copy_to_host(const ArrayView& array, std::string_view what, const RunOptions& run);

}  // namespace stope::device
