// What the plug-in does with memory and streams of the caller's (stope/device_arrays.hpp). Streams are cudaStream_t.
#pragma once

#include <cstdint>

#include "device/cuda_abi.hpp"

namespace stope::cuda_abi {

/// Rows of bytes, `stride` apart.
struct Rows {
  const void* first;
  std::int64_t n, bytes, stride;
};

struct ArrayFunctions {
  /// The GPU that owns the memory, -1 if none does.
  int (*owner)(const void* memory, std::int32_t* gpu, Failure* failure);
  /// Fails for a stream that is not one of the GPU's.
  int (*check_stream)(std::int32_t gpu, void* stream, Failure* failure);
  /// Copies rows to the host, one behind the other, after what the stream has queued; waits for it.
  int (*download)(std::int32_t gpu, void* stream, const Rows* rows, void* to, Failure* failure);
  /// The other way, likewise.
  int (*upload)(std::int32_t gpu, void* stream, const void* from, std::int64_t bytes, void* to, Failure* failure);
};
static_assert(kFunctionsIn<ArrayFunctions> == kTableSizes.arrays,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::cuda_abi
