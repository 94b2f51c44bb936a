// Which of the compiled kernels this CPU can run (io/csv/kernels.hpp).
#include "io/csv/kernels.hpp"

#include <array>

#include "base/simd/cpu.hpp"

namespace stope::io::csv {
namespace {

struct Available {
  std::array<const Kernels*, 3> kernels{};
  int n = 0;

  Available() {
    add(scalar::kKernels);
    if (simd::has_avx2()) add(avx2::kKernels);
    if (simd::has_avx512_vbmi2()) add(avx512::kKernels);
  }

 private:
  void add(const Kernels& more) { kernels[static_cast<std::size_t>(n++)] = &more; }
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
