// How far rounding usually moves a training row: what every bound allows for.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"

namespace stope::knn::cuda {

/// What all but one row in 256 of a sample of the first n_rows have, NaN left out; 0 without any. Rows far above it are
/// always listed instead of widening every bound. Waits for the stream.
float usual_residual(const stope::cuda::DeviceBuffer<float>& residuals, std::int64_t n_rows,
                     const stope::cuda::Stream& stream);

}  // namespace stope::knn::cuda
