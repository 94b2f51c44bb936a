// Training rows that lie in a GPU's memory alone, as long as nothing needs them on the host (stope/knn_arrays.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/cuda_plugin.hpp"
#include "knn/cuda_abi.hpp"
#include "stope/array.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// n x width doubles, which do not change. Safe from several threads at once.
class GpuTable {
 public:
  /// Copies checked rows of floats or doubles, whose values are one after the other, within their GPU.
  explicit GpuTable(const ArrayView& rows);

  int gpu() const { return gpu_; }
  std::int64_t n_rows() const { return n_rows_; }
  std::int64_t width() const { return width_; }
  const cuda_abi::RowsOnGpu* on_gpu() const { return rows_.get(); }

  /// Per column the smallest and the largest present value (infinite if there is none), and whether one is missing.
  struct Extremes {
    std::vector<double> low, high;
    std::vector<std::int32_t> missing;
  };
  Extremes extremes() const;
  /// Copies rows to the host.
  void download(std::int64_t first, std::int64_t n, double* to) const;
  void gather(const std::vector<std::int64_t>& which, double* to) const;

 private:
  struct Destroy {
    void operator()(cuda_abi::RowsOnGpu* rows) const;
  };

  int gpu_;
  std::int64_t n_rows_, width_;
  std::unique_ptr<cuda_abi::RowsOnGpu, Destroy> rows_;
};

/// Keeps the rows of an array where they are, if that serves searches on its GPU and the GPU has room; null otherwise:
/// then the rows have to be copied to the host. The array has been through check_gpu_array().
std::shared_ptr<const GpuTable> table_kept_there(const ArrayView& rows, const KnnOptions& options,
                                                 const RunOptions& run);

}  // namespace stope::knn
