// Images of rows that hold numbers and factors only (plain_columns.hpp), in halves or in bytes.
#pragma once

#include "knn/cuda/tensor/images/encode.hpp"

namespace stope::knn::cuda {

/// job.plain must not be null.
void launch_plain_train(const EncodeJob& job, cudaStream_t stream);
void launch_plain_queries(const EncodeJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
