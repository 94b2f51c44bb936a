// Chooses among the instances of code that is compiled once per instruction set (base/simd/target_region.hpp).
#pragma once

#include "device/backend.hpp"

namespace stope::device {

/// One instance per back end of the CPU. If avx512vnni has none of its own, it takes that of avx512.
template <class T>
struct Instances {
  T scalar, avx2, avx512;
  T avx512vnni = avx512;

  /// The instance for a back end; the scalar one for a back end without any.
  T of(Backend backend) const {
    switch (backend) {
      case Backend::avx2: return avx2;
      case Backend::avx512: return avx512;
      case Backend::avx512vnni: return avx512vnni;
      case Backend::reference:
      case Backend::scalar:
      case Backend::cuda: break;
    }
    return scalar;
  }
};

}  // namespace stope::device
