// The body of tile_product for one instruction set. STOPE_LANES: doubles in a vector. STOPE_ROWS: rows of the tile at a
// time, with as many accumulators as the registers hold besides the operands. Vectors run along j, never along the
// depth, and nothing is contracted. So an entry's sum is the same for every width.

constexpr int kVectors = 2;
constexpr int kWidth = kVectors * STOPE_LANES;
using Vector __attribute__((vector_size(STOPE_LANES * sizeof(double)))) = double;

inline void rows_of_tile(const double* a, const double* b, std::int64_t depth, double* c) {
  Vector sum[STOPE_ROWS][kVectors] = {};
  for (std::int64_t r = 0; r < depth; ++r, a += kTile, b += kTile) {
    Vector right[kVectors];
    __builtin_memcpy(right, b, sizeof right);
    for (int i = 0; i < STOPE_ROWS; ++i) {
      for (int v = 0; v < kVectors; ++v) sum[i][v] += a[i] * right[v];
    }
  }
  for (int i = 0; i < STOPE_ROWS; ++i) __builtin_memcpy(c + i * kTile, sum[i], sizeof sum[i]);
}

inline void whole_tile(const double* a, const double* b, std::int64_t depth, double* c) {
  for (int i = 0; i < kTile; i += STOPE_ROWS) {
    for (int j = 0; j < kTile; j += kWidth) rows_of_tile(a + i, b + j, depth, c + i * kTile + j);
  }
}
