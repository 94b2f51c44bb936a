// The part of the border to the CUDA plug-in (knn/cuda_abi.hpp) for queries and lists that are on the GPU already.
#pragma once

#include <cstdint>

namespace stope::knn::cuda_abi {

/// Query rows in the GPU's memory. They are read after all work that the caller's stream has queued.
struct DeviceRows {
  const void* values;
  std::int64_t stride;    ///< values from row to row
  std::int32_t is_float;  ///< 0: double
  std::int32_t unused;
  void* stream;  ///< cudaStream_t
};

/// Query i gets indices[i * k + j] and distances[i * k + j], unless it is uncertified. They are in place when the batch
/// is collected.
struct DeviceLists {
  std::int64_t* indices;
  double* distances;
};

}  // namespace stope::knn::cuda_abi
