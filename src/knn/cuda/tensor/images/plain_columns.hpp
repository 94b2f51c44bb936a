// Images that hold only numbers, without missing values, as in most tables. A lane can keep what their columns are
// while it goes through rows (PlainColumn in encode.hpp).
#pragma once

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"
#include "knn/cuda/tensor/images/encode.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

class PlainColumns {
 public:
  enum class Side { train, queries };
  /// Copies the columns to the GPU if the images are plain. Waits for the copy.
  PlainColumns(const cuda_abi::TensorSpec& spec, Side side, const stope::cuda::Stream& stream);

  /// Null if the images hold other things.
  const PlainColumn* columns() const { return columns_.data(); }
  const int* sources() const { return sources_.data(); }

 private:
  stope::cuda::DeviceBuffer<PlainColumn> columns_;
  stope::cuda::DeviceBuffer<int> sources_;
};

}  // namespace stope::knn::cuda
