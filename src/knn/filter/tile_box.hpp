// The box around the images of a tile's queries. It bounds the distances to the boxes around blocks of training rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace stope::knn {

class TileBox {
 public:
  explicit TileBox(std::int64_t n_columns)
      : low_(static_cast<std::size_t>(n_columns)), high_(low_.size()), middle_(low_.size()) {}

  void clear() {
    std::fill(low_.begin(), low_.end(), std::numeric_limits<float>::infinity());
    std::fill(high_.begin(), high_.end(), -std::numeric_limits<float>::infinity());
  }

  /// Widens a column of the box so that it holds a value. A missing value (NaN) may be anywhere.
  void widen(std::int64_t column, float value) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const auto c = static_cast<std::size_t>(column);
    const bool absent = std::isnan(value);
    low_[c] = std::min(low_[c], absent ? -kInf : value);
    high_[c] = std::max(high_[c], absent ? kInf : value);
  }

  const float* low() const { return low_.data(); }
  const float* high() const { return high_.data(); }
  /// Returns its middle: NaN in a column in which it is open.
  const float* middle() {
    for (std::size_t c = 0; c < middle_.size(); ++c) middle_[c] = 0.5F * low_[c] + 0.5F * high_[c];
    return middle_.data();
  }

 private:
  std::vector<float> low_, high_, middle_;
};

}  // namespace stope::knn
