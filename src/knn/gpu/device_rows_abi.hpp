// The border to the CUDA plug-in (knn/cuda_abi.hpp) where queries, or lists, are on the GPU already.
#pragma once

#include <cstdint>

namespace stope::knn::cuda_abi {

/// Query rows in the GPU's memory, read after what the caller's stream has queued.
struct DeviceRows {
  const void* values;
  std::int64_t stride;    ///< values from row to row
  std::int32_t is_float;  ///< else double
  std::int32_t unused;
  void* stream;  ///< cudaStream_t
};

/// Query i gets indices[i * k + j] and distances[i * k + j], unless it is uncertified. They are there when the batch is
/// collected.
struct DeviceLists {
  std::int64_t* indices;
  double* distances;
};

}  // namespace stope::knn::cuda_abi
