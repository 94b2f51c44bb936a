// The inner loops that split rows of few columns in two (moved_rows.hpp), compiled for each instruction set. They use
// plain arrays only, so that nothing of the standard library is compiled with instructions that a machine may lack.
#pragma once

#include <cstdint>

namespace stope::knn {

/// Rows [0, n) of a part, to be moved to its two halves. They stay in their order. A row goes to the first half if its
/// key is less than `cut`, and so do the first `n_equal` rows whose keys are equal to it.
struct RowMove {
  const std::int32_t* from;  ///< from[array * stride + row]
  std::int32_t* first;       ///< the two halves, in arrays of the same stride
  std::int32_t* second;
  std::int64_t stride;
  std::int64_t n_arrays;
  std::int64_t n;
  std::int64_t key;  ///< the number of the array that has the keys
  std::int32_t cut;
  std::int64_t n_equal;
};

/// Keys that lie below a fence [low, high), and in it.
struct FenceCounts {
  std::int64_t below, inside;
};

/// The least and the largest key that is no missing value. Without any, `low` is greater than `high`.
struct KeyRange {
  std::int32_t low, high;
};

/// Numbers in the order of the values: missing ones last.
inline constexpr std::int32_t kMissingKey = INT32_MAX;
inline std::int32_t key_of(float value) {
  const auto bits = __builtin_bit_cast(std::int32_t, value);
  return value == value ? bits ^ (bits >> 31 & INT32_MAX) : kMissingKey;
}
inline float value_of(std::int32_t key) {
  return key == kMissingKey ? __builtin_nanf("") : __builtin_bit_cast(float, key ^ (key >> 31 & INT32_MAX));
}

struct SplitKernels {
  KeyRange (*range)(const std::int32_t* keys, std::int64_t n);
  std::int64_t (*count_below)(const std::int32_t* keys, std::int64_t n, std::int32_t bound);
  /// Copies the keys in a fence, in their order; `inside` has room for n.
  FenceCounts (*copy_inside)(const std::int32_t* keys, std::int64_t n, std::int32_t low, std::int32_t high,
                             std::int32_t* inside);
  void (*move)(const RowMove& rows);
};

namespace scalar {
extern const SplitKernels kSplitKernels;
}
namespace avx2 {
extern const SplitKernels kSplitKernels;
}
namespace avx512 {
extern const SplitKernels kSplitKernels;
}

}  // namespace stope::knn
