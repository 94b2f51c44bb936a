// Images of rows that hold numbers and factors only (plain_columns.hpp), in halves or in bytes.
#pragma once

#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// job.plain must not be null. `is_train`: of training rows.
void launch_plain_images(const EncodeJob& job, bool is_train, cudaStream_t stream);

}  // namespace stope::knn::cuda
