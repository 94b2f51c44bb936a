// Training rows that the caller had in this GPU's memory, as doubles: what an index keeps of them
// (knn/gpu/gpu_table.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/handle.hpp"
#include "device/cuda/stream.hpp"
#include "knn/cuda_abi.hpp"
#include "knn/gpu/device_rows_abi.hpp"

namespace stope::knn::cuda {

/// Training rows in this GPU's memory, whoever holds them: n x width, in the table's order.
struct RowsThere {
  int gpu;
  const double* values;
  std::int64_t n, width;
};

/// Several threads may use it at once: its rows do not change.
class TableRows {
 public:
  /// Copies the rows after all that the caller's stream has queued, and waits. Its GPU is current, also later.
  TableRows(int gpu, const cuda_abi::DeviceRows& from, std::int64_t n, std::int64_t width);

  int gpu() const { return gpu_; }
  std::int64_t n() const { return n_; }
  std::int64_t width() const { return width_; }
  /// n x width, followed by kReadBeyond zeros.
  const double* data() const { return rows_.data(); }
  RowsThere rows_there() const { return {gpu_, rows_.data(), n_, width_}; }

  /// Fills in what cuda_abi::ColumnExtremes asks for, in host memory.
  void extremes(const cuda_abi::ColumnExtremes& out) const;
  /// Copies m rows to the host: which[i], or row first + i if `which` is null.
  void download(std::int64_t first, const std::int64_t* which, std::int64_t m, double* to) const;

 private:
  int gpu_;
  std::int64_t n_, width_;
  stope::cuda::DeviceBuffer<double> rows_;
};

/// Finds extremes in two steps. n_partial threads, a multiple of the width, each see values of one column; then a warp
/// per column puts theirs together.
struct ExtremesJob {
  const double* rows;
  std::int64_t n, width, n_partial;
  double *partial_low, *partial_high;  ///< n_partial
  std::int32_t* partial_missing;
  double *low, *high;  ///< width
  std::int32_t* missing;
};
void launch_extremes(const ExtremesJob& job, cudaStream_t stream);

/// Writes row which[i] as row i.
struct GatherRowsJob {
  const double* rows;
  std::int64_t width;
  const std::int64_t* which;
  std::int64_t m;
  double* to;
};
void launch_gather_rows(const GatherRowsJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda

namespace stope::knn::cuda_abi {

struct RowsOnGpu : stope::cuda::Handle<cuda::TableRows> {
  using Handle::Handle;
};

}  // namespace stope::knn::cuda_abi
