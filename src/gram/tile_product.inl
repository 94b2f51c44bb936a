// The body of tile_product for one instruction set (base/simd/target_region.hpp). Vectors run along j, never along the
// depth, and every step is a fused multiply-add. So an entry's sum is the same for every width.

namespace {

#include "base/simd/prelude.inl"
#include "base/simd/fused.inl"

// A piece of the tile that is summed at once: its sums and their operands fill the registers.
constexpr int kRows = STOPE_VECTOR_BYTES == 64 ? 8 : 4;
constexpr int kMostVectors = 2;

// Entry (i, r) of a lies at a[i * across + r * down].
template <int vectors, int across, int down>
STOPE_INLINE void piece(const double* a, const double* b, std::int64_t depth, double* c, std::int64_t stride) {
  // Many columns have sums that no cache holds: they arrive while the products are summed up.
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + i * stride + v * kDoubleLanes, 1);
  }
  Doubles sum[kRows][vectors] = {};
  for (std::int64_t r = 0; r < depth; ++r, a += down, b += kTile) {
    Doubles right[vectors];
    __builtin_memcpy(right, b, sizeof right);
    for (int i = 0; i < kRows; ++i) {
      const Doubles left = all(a[i * across]);
      for (int v = 0; v < vectors; ++v) sum[i][v] = fused(left, right[v], sum[i][v]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int v = 0; v < vectors; ++v) {
      double* const to = c + i * stride + v * kDoubleLanes;
      store(to, doubles_at(to) + sum[i][v]);
    }
  }
}

constexpr std::int64_t kWidth = kMostVectors * kDoubleLanes;

void of_tiles(const double* a, const double* b, std::int64_t depth, const TileShape& shape, double* c,
              std::int64_t stride) {
  for (std::int64_t i = 0; i < shape.n_rows; i += kRows) {
    std::int64_t j = shape.on_diagonal ? i / kDoubleLanes * kDoubleLanes : 0;
    for (; shape.n_columns - j > kDoubleLanes && j + kWidth <= kTile; j += kWidth) {
      piece<kMostVectors, 1, kTile>(a + i, b + j, depth, c + i * stride + j, stride);
    }
    for (; j < shape.n_columns; j += kDoubleLanes) {
      piece<1, 1, kTile>(a + i, b + j, depth, c + i * stride + j, stride);
    }
  }
}

void of_rows(const double* a, const double* b, std::int64_t depth, std::int64_t n_rows, std::int64_t n_columns,
             double* c, std::int64_t stride) {
  for (std::int64_t i = 0; i < n_rows; i += kRows, a += kRows * kRowStride, c += kRows * stride) {
    std::int64_t j = 0;
    for (; n_columns - j > kDoubleLanes; j += kWidth) {
      piece<kMostVectors, kRowStride, 1>(a, b + j, depth, c + j, stride);
    }
    for (; j < n_columns; j += kDoubleLanes) piece<1, kRowStride, 1>(a, b + j, depth, c + j, stride);
  }
}

}  // namespace

const TileProducts kTileProducts = {of_tiles, of_rows};
