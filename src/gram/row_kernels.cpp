// Which of the compiled loops over rows this CPU runs.
#include "gram/row_kernels.hpp"

#include "base/simd/cpu.hpp"

namespace stope::gram {

int all_row_kernels(const RowKernels* (&out)[3]) {
  int n = 0;
  out[n++] = &scalar::kRowKernels;
  if (simd::has_avx2()) out[n++] = &avx2::kRowKernels;
  if (simd::has_avx512()) out[n++] = &avx512::kRowKernels;
  return n;
}

const RowKernels& row_kernels() {
  static const RowKernels* const best = [] {
    const RowKernels* known[3] = {};
    const int n = all_row_kernels(known);
    return known[n - 1];
  }();
  return *best;
}

}  // namespace stope::gram
