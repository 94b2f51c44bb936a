// The order of training rows: the leaves of a balanced k-d tree, left to right. All leaves have the same number of
// rows, give or take one, and there is a power of two of them. So nothing but the split of each part has to be kept,
// and 32 consecutive leaves lie in one part.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda/boxes/pair_sort.hpp"

namespace stope::knn::cuda {

inline constexpr int kLeafRows = 32;  ///< most rows of a leaf: a lane of a warp has one

/// How n rows become 2^depth leaves. Level l of the tree has 2^l parts.
struct LeafShape {
  std::int64_t n_rows;
  int depth;

  /// The fewest leaves of at most kLeafRows rows.
  static LeafShape of(std::int64_t n_rows) {
    LeafShape shape{n_rows, 0};
    while (((n_rows - 1) >> shape.depth) >= kLeafRows) ++shape.depth;
    return shape;
  }
  STOPE_HD std::int64_t n_leaves() const { return std::int64_t{1} << depth; }
  /// Returns where a part begins in the order.
  STOPE_HD std::int64_t begin(int level, std::int64_t part) const { return part * n_rows >> level; }
  /// Returns the part with a place of the order.
  STOPE_HD std::int64_t part_at(int level, std::int64_t place) const { return (((place + 1) << level) - 1) / n_rows; }
};

/// How a part is split: rows whose number in `column` has a key (number_key) of at least `key` are in the second half,
/// and perhaps some equal ones in the first. Part s of level l has split 2^l + s.
struct Split {
  std::uint32_t key;
  std::int32_t column;
};

#if defined(__CUDACC__)
/// Keys are in the order of the numbers. A missing number comes last.
__device__ __forceinline__ std::uint32_t number_key(float number) {
  if (number != number) return 0xffffffffU;
  const auto bits = static_cast<std::uint32_t>(__float_as_int(number));
  return bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
}
#endif

/// Orders rows by their images (n_columns floats, row-major, NaN = missing): sort.values() has the row at each place.
/// Rows with equal images keep their order. `splits` gets 2^depth entries, of which the first is not used.
void order_rows(const LeafShape& shape, const float* images, int n_columns, PairSort& sort, Split* splits,
                const stope::cuda::Stream& stream);

}  // namespace stope::knn::cuda
