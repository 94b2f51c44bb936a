// Makes images of rows for the difference filter on the GPU: floats (filter/row_image.hpp), or bytes and what matrix
// instructions multiply (byte_layout.hpp). register_tile.cuh says where they lie.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "knn/cuda/differences/byte_layout.hpp"
#include "knn/filter/row_image.hpp"

namespace stope::knn::cuda {

/// Makes rows [first, first + n) of the images; `rows` points to the first of them. Images up to row n_padded are
/// written: zeros where there is no row. Everything lies on the GPU, also what `form` points to.
struct ImageJob {
  RowForm form;
  const double* rows;
  std::int64_t first, n, n_padded;
  std::int64_t width;  ///< doubles a row
  float* residuals;    ///< rounded up; NaN: no image can bound the row
  std::int32_t* gaps;  ///< set to 1 if a row has a missing value
};

void launch_float_images(const ImageJob& job, float* images, cudaStream_t stream);

/// Says which side's products are made (byte_layout.hpp).
enum class Side { query, train };
void launch_byte_images(const ImageJob& job, const ByteLayout& layout, Side side, std::uint32_t* images,
                        cudaStream_t stream);

/// Sets where the sums of training rows start. A start is 0, or a value that hides the row from the scan. A row is
/// hidden if it does not exist, or if its residual exceeds `most_residual` and it is therefore always listed.
struct AlwaysJob {
  const float* residuals;
  std::int64_t n, n_padded;
  float most_residual;
  float* starts;              ///< or null
  std::int32_t* byte_starts;  ///< or null
  std::int32_t* always;       ///< rows that are always listed, as far as there is room for `most`
  std::int32_t most;
  std::int32_t* n_always;  ///< must be 0 before
};
void launch_always(const AlwaysJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
