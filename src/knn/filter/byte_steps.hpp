// Whole steps: how images in bytes and nibbles round numbers, and which rows lie too far from their steps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "knn/filter/encode/encode.hpp"
#include "knn/filter/image_map.hpp"

namespace stope::knn {

inline constexpr double kLargestStep = 127.0;  ///< of bytes, and of queries

/// Chooses how many steps a unit of the images has, so that the usual largest number has `largest` of them. The number
/// is finite as a float, and finite times any image below 1; the residual shows where that makes steps too coarse.
/// Without numbers a mismatch is the largest byte.
float choose_steps(const TrainImages& images, const ImageMap& map, double largest);

/// Returns the nearest whole number. The addition rounds: 1.5 * 2^23 leaves no bits below 1.
inline float whole_number(float scaled, const Rounding& rounding) {
  constexpr float kRound = 12582912.0F;
  return (std::clamp(scaled, rounding.least, rounding.most) + kRound) - kRound;
}

inline bool listed(const std::vector<std::uint64_t>& always, std::int64_t position) {
  return (always[static_cast<std::size_t>(position / kScanBlockRows)] >> (position % kScanBlockRows) & 1) != 0;
}

/// Adds rows far above the usual residual to those that are always listed, instead of widening every bound. Returns the
/// largest residual of the others. `residuals`: per position, as computed in float.
float list_outliers(std::int64_t n_rows, const Buffer<float>& residuals, std::vector<std::uint64_t>& always);

/// The residual of rows whose squared errors in steps, computed in float, add up to at most `squares`. value * steps +
/// centre is off by 2^-23 of at most 127, the sum by a relative error.
double norm_of_errors(float squares, std::int64_t n_columns);

}  // namespace stope::knn
