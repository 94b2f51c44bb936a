// The rows of a group (gram/shape.hpp) that a job has.
#pragma once

#include <cstdint>

#include "gram/cuda/rows.hpp"
#include "gram/shape.hpp"

namespace stope::gram::cuda {

/// Rows, and whether the group's sums begin here.
struct RowRange {
  std::int64_t begin, end;  ///< counted from the job's first row
  bool fresh;
};

__device__ __forceinline__ RowRange rows_of_group(const RowsJob& job, std::int64_t group) {
  const std::int64_t begin = job.groups.begin(group) - job.first;
  const std::int64_t end = job.groups.begin(group + 1) - job.first;
  return {begin > 0 ? begin : 0, end < job.n ? end : job.n, begin >= 0};
}

}  // namespace stope::gram::cuda
