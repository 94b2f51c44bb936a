// The instruction sets for which kernels.inl is compiled.
#pragma once

#include "io/csv/kernels.hpp"

namespace stope::io::csv {

extern const Kernels kPortableKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace stope::io::csv
