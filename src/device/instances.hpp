// Chooses among the instances of what is compiled once per instruction set (base/simd/target_region.hpp).
#pragma once

#include "device/backend.hpp"

namespace stope::device {

/// One instance per back end of the CPU. Without one of its own, avx512vnni takes that of avx512.
template <class T>
struct Instances {
  T scalar, avx2, avx512;
  T avx512vnni = avx512;

  /// The instance for a back end; scalar for those that have none.
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
