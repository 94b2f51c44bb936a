// Cuts up a reference search on a GPU into tiles, rows held and work space, so that it fits the GPU's memory.
#pragma once

#include <cstdint>

#include "knn/cuda_abi.hpp"

namespace stope::knn {

/// What a search on a GPU needs.
struct GpuDemand {
  std::int64_t width = 0;              ///< doubles a row
  std::int64_t n_queries = 0;          ///< most queries in a block
  std::int64_t n_rows = 0;             ///< most rows in a part
  std::int64_t n_storage = 0;          ///< doubles that the measure points to
  std::int64_t terms_per_pair = 0;     ///< terms of one pair
  std::int64_t scratch_doubles = 0;    ///< work space of a thread
  std::int64_t most_tile_queries = 0;  ///< 0: as planned here
  std::int64_t most_tile_rows = 0;
  std::int64_t most_held_rows = 0;
  bool lent_rows = false;  ///< all rows of a part are on the GPU already, and take no memory
};

struct GpuPlan {
  cuda_abi::Sizes sizes{};
  std::int64_t bytes = 0;  ///< on the GPU
};

/// Bytes a job may use on a GPU that has `free` left: all but a fifth or 8 GiB, whichever is less, and no more than the
/// limit, if one is given.
std::int64_t gpu_budget(std::int64_t free, std::int64_t memory_limit);

/// Shrinks tiles, then the training rows held, until they fit `budget`. Throws out_of_memory naming the bytes if one
/// pair of rows at a time does not fit.
GpuPlan plan_gpu(const GpuDemand& demand, std::int64_t budget);

}  // namespace stope::knn
