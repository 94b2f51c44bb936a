// Query rows that are on the GPU already become the doubles that a filter reads, and its lists the caller's.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/gpu/device_rows_abi.hpp"

namespace stope::knn::cuda {

/// rows[i * width + c], for n rows.
struct TakeRowsJob {
  cuda_abi::DeviceRows from;
  std::int64_t n, width;
  double* rows;
};
void launch_take_rows(const TakeRowsJob& job, cudaStream_t stream);

/// Lists of k of n queries, those that are uncertified left out.
struct HandListsJob {
  const double* distances;
  const std::int32_t* rows;
  const std::int32_t* uncertified;
  std::int64_t n, k;
  cuda_abi::DeviceLists to;
};
void launch_hand_lists(const HandListsJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
