// Measures that need more than their attributes: parameters, or a matrix computed from the training rows.
#pragma once

#include <memory>
#include <vector>

#include "knn/measure/kernel.hpp"

namespace stope::knn {

std::unique_ptr<MeasureKernel> make_minkowski(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_kernel_euclidean(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_mahalanobis(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_nan_euclidean(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_cosine_angle(const MeasureContext& context);
std::unique_ptr<MeasureKernel> make_inner_product(const MeasureContext& context);

/// The covariance (n-1) of the training rows, d x d. Means and products are summed in the shape of base/row_sums.hpp.
std::vector<double> covariance(const MeasureContext& context);

}  // namespace stope::knn
