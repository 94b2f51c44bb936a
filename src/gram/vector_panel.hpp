// Vectors in memory as an operand of products (gram/cross_product.hpp).
#pragma once

#include <algorithm>

#include "gram/cross_product.hpp"

namespace stope::gram {

/// Vector j lies at values + j * stride.
class VectorPanel : public PanelSource {
 public:
  VectorPanel(const double* values, std::int64_t width, std::int64_t stride)
      : values_(values), width_(width), stride_(stride) {}
  std::int64_t width() const override { return width_; }

  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override {
    const std::int64_t n = std::min(kTile, width_ - tile * kTile);
    if (n < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
    for (std::int64_t c = 0; c < n; ++c) {
      const double* const from = values_ + (tile * kTile + c) * stride_;
      for (std::int64_t row = begin; row < end; ++row) out[(row - begin) * kTile + c] = from[row];
    }
  }

 private:
  const double* values_;
  std::int64_t width_, stride_;
};

}  // namespace stope::gram
