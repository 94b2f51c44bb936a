// The plug-in's functions for memory and streams that belong to the caller (stope/array.hpp). Streams are
// cudaStream_t.
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
  /// Finds the GPU that owns the memory, or -1 if none does.
  int (*owner)(const void* memory, std::int32_t* gpu, Failure* failure);
  /// Fails if the stream does not belong to the GPU.
  int (*check_stream)(std::int32_t gpu, void* stream, Failure* failure);
  /// Copies rows to the host, one after the other, once the stream's queued work is done. Waits for the copy.
  int (*download)(std::int32_t gpu, void* stream, const Rows* rows, void* to, Failure* failure);
  /// Copies from the host to the GPU, also once the stream's queued work is done, and waits.
  int (*upload)(std::int32_t gpu, void* stream, const void* from, std::int64_t bytes, void* to, Failure* failure);
};
static_assert(kFunctionsIn<ArrayFunctions> == kTableSizes.arrays,
              "the table changed: raise kVersion and correct kTableSizes in device/cuda_abi.hpp");

}  // namespace stope::cuda_abi
