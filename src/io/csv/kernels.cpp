// Which of the compiled kernels this CPU can run (io/csv/kernels.hpp).
#include "io/csv/kernels.hpp"

#include <array>

#include "io/csv/kernels_levels.hpp"

namespace stope::io::csv {
namespace {

struct Available {
  std::array<const Kernels*, 3> kernels{};
  int n = 0;

  Available() {
    kernels[0] = &kPortableKernels;
    n = 1;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
      kernels[static_cast<std::size_t>(n++)] = &kAvx2Kernels;
    if (n == 2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi2")) {
      kernels[static_cast<std::size_t>(n++)] = &kAvx512Kernels;
    }
#endif
  }
};

const Available& available() {
  static const Available instance;
  return instance;
}

}  // namespace

const Kernels* const* available_kernels(int* n) {
  *n = available().n;
  return available().kernels.data();
}

const Kernels& best_kernels() {
  return *available().kernels[static_cast<std::size_t>(available().n - 1)];
}

}  // namespace stope::io::csv
