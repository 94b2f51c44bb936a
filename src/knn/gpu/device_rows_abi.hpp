// The part of the border to the CUDA plug-in (knn/cuda_abi.hpp) for queries, lists and predictions that
// are on the GPU already.
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

/// Query i gets winners[i] and values[i * n_values + v] of a vote of one k. Those of an uncertified query have no
/// meaning. They are in place when the batch is collected.
struct DevicePredictions {
  std::int32_t* winners;  ///< null for means
  double* values;         ///< null: only the winners are wanted
};

}  // namespace stope::knn::cuda_abi
