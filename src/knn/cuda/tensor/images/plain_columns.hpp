// Images of nothing but numbers without missing values, which most tables have: what their columns are in a form that a
// lane can keep while it goes through rows (PlainColumn in filter_images.hpp).
#pragma once

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "knn/cuda/tensor/images/encode.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

class PlainColumns {
 public:
  enum class Side { train, queries };
  /// Copies the columns to the GPU, if the images are plain; waits for the copy.
  PlainColumns(const cuda_abi::TensorSpec& spec, Side side, const stope::cuda::Stream& stream);

  /// Null if the images have something else.
  const PlainColumn* columns() const { return columns_.data(); }
  const int* sources() const { return sources_.data(); }

 private:
  stope::cuda::DeviceBuffer<PlainColumn> columns_;
  stope::cuda::DeviceBuffer<int> sources_;
};

}  // namespace stope::knn::cuda
