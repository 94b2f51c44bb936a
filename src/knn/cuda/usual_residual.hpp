// How far rounding usually moves a training row. Every bound allows for that much.
#pragma once

#include <cstdint>

#include "device/cuda/buffer.hpp"
#include "device/cuda/stream.hpp"

namespace stope::knn::cuda {

/// Returns a residual that all but one row in 256 do not exceed, in a sample of the first n_rows. NaN is left out;
/// without any residual the result is 0. Rows far above it are always listed, so that they do not widen every bound.
/// Waits for the stream.
float usual_residual(const stope::cuda::DeviceBuffer<float>& residuals, std::int64_t n_rows,
                     const stope::cuda::Stream& stream);

}  // namespace stope::knn::cuda
