// The body of tile_product for one instruction set (base/simd/target_region.hpp). Vectors run along j, never along the
// depth, and nothing is contracted. So an entry's sum is the same for every width.

namespace {

#include "base/simd/prelude.inl"

// A piece of the tile that is summed at once: its sums and their operands fill the registers.
constexpr int kRows = STOPE_VECTOR_BYTES == 64 ? 8 : 4;
constexpr int kVectors = 2;
constexpr int kWidth = kVectors * kDoubleLanes;

inline void rows_of_tile(const double* a, const double* b, std::int64_t depth, double* c) {
  Doubles sum[kRows][kVectors] = {};
  for (std::int64_t r = 0; r < depth; ++r, a += kTile, b += kTile) {
    Doubles right[kVectors];
    __builtin_memcpy(right, b, sizeof right);
    for (int i = 0; i < kRows; ++i) {
      for (int v = 0; v < kVectors; ++v) sum[i][v] += a[i] * right[v];
    }
  }
  for (int i = 0; i < kRows; ++i) __builtin_memcpy(c + i * kTile, sum[i], sizeof sum[i]);
}

}  // namespace

void tile_product(const double* a, const double* b, std::int64_t depth, double* c) {
  for (int i = 0; i < kTile; i += kRows) {
    for (int j = 0; j < kTile; j += kWidth) rows_of_tile(a + i, b + j, depth, c + i * kTile + j);
  }
}
