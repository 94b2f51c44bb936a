// Measures that need more than their attributes: parameters, or a matrix computed from the training rows.
#pragma once

#include <memory>

#include "knn/measure/kernel.hpp"

namespace stope::knn {

std::unique_ptr<MeasureKernel> make_minkowski(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_kernel_euclidean(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_mahalanobis(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_nan_euclidean(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_cosine_angle(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_inner_product(const MeasureContext& context);

}  // namespace stope::knn
