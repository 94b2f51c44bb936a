// Which of the compiled loops over columns this CPU runs.
#include "gram/column_kernels.hpp"

#include "base/simd/cpu.hpp"

namespace stope::gram {

int all_column_kernels(const ColumnKernels* (&out)[3]) {
  int n = 0;
  out[n++] = &scalar::kColumnKernels;
  if (simd::has_avx2()) out[n++] = &avx2::kColumnKernels;
  if (simd::has_avx512()) out[n++] = &avx512::kColumnKernels;
  return n;
}

const ColumnKernels& column_kernels() {
  static const ColumnKernels* const best = [] {
    const ColumnKernels* known[3] = {};
    const int n = all_column_kernels(known);
    return known[n - 1];
  }();
  return *best;
}

}  // namespace stope::gram
