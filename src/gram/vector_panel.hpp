// Vectors in memory as an operand of products (gram/cross_product.hpp).
#pragma once

#include <algorithm>

#include "gram/cross_product.hpp"
#include "gram/row_kernels.hpp"

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
    row_kernels().of_double.turn({values_ + tile * kTile * stride_ + begin, stride_, n, end - begin}, out, kTile);
  }

 private:
  const double* values_;
  std::int64_t width_, stride_;
};

}  // namespace stope::gram
