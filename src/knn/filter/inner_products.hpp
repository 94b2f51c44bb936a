// Inner products of rows, bounded from above by those of images (docs/numerics/filter.md, "Similarities"). A query's
// image has length 1. What rounding may take from a row's product is added to the row's start.
#pragma once

#include <cstdint>

#include "knn/filter/derived_images.hpp"

namespace stope::knn {

/// What a distance, a negated product, proves about the product of the images before they are rounded.
struct ProductReach {
  double per_unit = 0.0;  ///< product of the images per unit of the rows' product; 0: nothing is proven
  double shift = 0.0;     ///< part of it that all rows have, because images are centred
  double share = 0.0;     ///< of each number here that its rounding may have taken
  double lost = 0.0;      ///< what the formula's rounding may have taken, apart from what starts allow for

  /// Returns the least product of a row at most that far away; -infinity: any.
  double least(double distance) const;
};
ProductReach product_reach(const ImageMap& map, const double* query);

/// A query whose float image is farther from its unit vector drops nothing.
inline constexpr double kMostUnitResidual = 0x1p-23;

/// The start of a row in floats. `square`: that of its image's norm. `residual`: of usual images.
float product_start(double square, double residual, std::int64_t n_columns);

/// Chooses query_norm and query_rounding of images in bytes or nibbles. Some rows stand for the queries.
void choose_query_norm(const ImageSource& source, ByteImages& images);
/// Writes the starts of a block. Returns the rows that no start bounds. `squares`, `errors`: as EncodeKernels has them.
std::uint64_t put_product_starts(const ByteImages& images, double image_residual, const std::int32_t* squares,
                                 const float* errors, std::int32_t* starts);
/// Does what make_byte_image() does, in steps of the query's own.
ByteImage make_unit_image(const float* image, double residual, const ByteImages& train, std::uint8_t* bytes);
/// The norm of the longest row in steps.
double longest(const ByteImages& images);

}  // namespace stope::knn
