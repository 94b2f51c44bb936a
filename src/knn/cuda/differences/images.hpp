// Images of rows for the filter by differences, made on the GPU: floats (filter/row_image.hpp), or bytes and what
// matrix instructions multiply (byte_layout.hpp). Where they lie: register_tile.cuh.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/differences/byte_layout.hpp"
#include "knn/filter/row_image.hpp"

namespace stope::knn::cuda {

/// Rows [first, first + n) of the images; `rows` points to the first of them. Images up to row n_padded are written,
/// zeros for what is no row. Everything, also what `form` points to, lies on the GPU.
struct ImageJob {
  RowForm form;
  const double* rows;
  std::int64_t first, n, n_padded;
  std::int64_t width;  ///< doubles a row
  float* residuals;    ///< rounded up; NaN: no image can bound the row
  std::int32_t* gaps;  ///< set to 1 if a row has a missing value
};

void launch_float_images(const ImageJob& job, float* images, cudaStream_t stream);

/// Which side's products (byte_layout.hpp).
enum class Side { query, train };
void launch_byte_images(const ImageJob& job, const ByteLayout& layout, Side side, std::uint32_t* images,
                        cudaStream_t stream);

/// Where the sums of training rows start: 0, or where the scan must not see the row: because it is none, or because its
/// residual exceeds `most_residual`, so that it is always listed.
struct AlwaysJob {
  const float* residuals;
  std::int64_t n, n_padded;
  float most_residual;
  float* starts;              ///< or null
  std::int32_t* byte_starts;  ///< or null
  std::int32_t* always;       ///< the rows that are always listed, as far as there is room for `most`
  std::int32_t most;
  std::int32_t* n_always;  ///< 0 beforehand
};
void launch_always(const AlwaysJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
