// Reductions over the lanes of a warp: the highest number, the range of keys.
#pragma once

#include <cstdint>

#include "discretize/cuda/codes.cuh"

namespace stope::discretize::cuda {

template <class Word>
__device__ __forceinline__ Word reduce_max(Word v) {
#if __CUDA_ARCH__ >= 800
  constexpr bool kHasReduction = sizeof(Word) == 4;
#else
  constexpr bool kHasReduction = false;
#endif
  if constexpr (kHasReduction) {
    return __reduce_max_sync(0xffffffffU, v);
  } else {
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) {
      const Word o = __shfl_xor_sync(0xffffffffU, v, half);
      v = o > v ? o : v;
    }
    return v;
  }
}

template <class T>
__device__ __forceinline__ void reduce(KeyRange<T>& range) {
  using Unsigned = typename KeyOf<T>::Unsigned;
  constexpr Unsigned kSign = Unsigned{1} << (sizeof(T) * 8 - 1);
  range.below_lowest =
      static_cast<typename KeyOf<T>::Signed>(~reduce_max(~(static_cast<Unsigned>(range.below_lowest) ^ kSign)) ^ kSign);
  range.high_negative = reduce_max(range.high_negative);
  range.below_positive = ~reduce_max(~range.below_positive);
  range.highest = static_cast<typename KeyOf<T>::Signed>(reduce_max(static_cast<Unsigned>(range.highest)));
}

}  // namespace stope::discretize::cuda
