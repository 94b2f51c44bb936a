// Copies to and from the caller's memory on the GPU: query rows become the doubles that a filter reads, and a filter's
// lists become the caller's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/gpu/device_rows_abi.hpp"

namespace stope::knn::cuda {

/// Writes rows[i * width + c], for n rows.
struct TakeRowsJob {
  cuda_abi::DeviceRows from;
  std::int64_t n, width;
  double* rows;
};
void launch_take_rows(const TakeRowsJob& job, cudaStream_t stream);

/// Hands over the lists of n queries, k neighbours each; uncertified queries are left out.
struct HandListsJob {
  const double* distances;
  const std::int32_t* rows;
  const std::int32_t* uncertified;
  std::int64_t n, k;
  cuda_abi::DeviceLists to;
};
void launch_hand_lists(const HandListsJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
