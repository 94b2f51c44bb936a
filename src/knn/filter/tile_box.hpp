// The box around the images of a tile's queries. It bounds the distances to the boxes around blocks of training rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "knn/filter/image_map.hpp"

namespace stope::knn {

class TileBox {
 public:
  explicit TileBox(std::int64_t n_columns) : n_columns_(n_columns), low_(n_columns), high_(n_columns) {}

  void clear() {
    std::fill(low_.begin(), low_.end(), std::numeric_limits<float>::infinity());
    std::fill(high_.begin(), high_.end(), -std::numeric_limits<float>::infinity());
  }

  /// Widens a column of the box so that it holds a value. A missing value (NaN) may be anywhere.
  void widen(std::int64_t c, float value) {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const bool absent = std::isnan(value);
    low_[c] = std::min(low_[c], absent ? -kInf : value);
    high_[c] = std::max(high_[c], absent ? kInf : value);
  }

  /// Returns a lower bound of the sum between any query of the tile and any row in a box; stops once it exceeds
  /// `reach`.
  float distance(const ImageMap& map, const float* low, const float* high, float reach) const {
    const Term term = map.form().term;
    float sum = 0.0F;
    std::int64_t c = 0;
    if (term == Term::square) {
      for (; c + kTogether <= map.n_numeric() && sum <= reach; c += kTogether) sum += squares_of(low, high, c);
    }
    for (; c < n_columns_ && sum <= reach; ++c) {
      const float gap = std::max({low[c] - high_[c], low_[c] - high[c], 0.0F});
      if (!(gap > 0.0F)) continue;
      if (c >= map.n_numeric()) {
        sum = term == Term::maximum ? std::max(sum, map.mismatch()[c]) : sum + map.mismatch()[c];
      } else if (term == Term::square) {
        sum += gap * gap;
      } else {
        sum = term == Term::maximum ? std::max(sum, gap) : sum + gap;
      }
    }
    return sum;
  }

  /// Returns the distance between the middles of two boxes, which orders the boxes that touch the tile.
  float middle_distance(const float* low, const float* high) const {
    float sum = 0.0F;
    for (std::int64_t c = 0; c < n_columns_; ++c) {
      const float gap = low[c] + high[c] - (low_[c] + high_[c]);
      if (std::isfinite(gap)) sum += std::fabs(gap);
    }
    return sum;
  }

 private:
  static constexpr std::int64_t kTogether = 16;

  // Adds up the squares of the gaps of kTogether columns. The loops have no branches, so that compilers make vectors of
  // them; the order of the sum does not matter to a bound (docs/numerics/filter.md).
  float squares_of(const float* low, const float* high, std::int64_t first) const {
    float squares[kTogether];
    const float* const own_low = low_.data() + first;
    const float* const own_high = high_.data() + first;
    for (std::int64_t c = 0; c < kTogether; ++c) {
      const float above = low[first + c] - own_high[c], below = own_low[c] - high[first + c];
      const float gap = above > below ? above : below;
      const float outside = gap > 0.0F ? gap : 0.0F;
      squares[c] = outside * outside;
    }
    for (std::int64_t n = kTogether / 2; n > 0; n /= 2) {
      for (std::int64_t c = 0; c < n; ++c) squares[c] += squares[c + n];
    }
    return squares[0];
  }

  std::int64_t n_columns_;
  Buffer<float> low_, high_;
};

}  // namespace stope::knn
