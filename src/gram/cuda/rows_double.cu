// The kernels of rows_kernel.cuh for float64.
#include "gram/cuda/rows_kernel.cuh"
#include "gram/cuda/rows_launch.hpp"

namespace stope::gram::cuda {

void launch_double_rows(Mode mode, const RowsJob& job, const Layout& layout, double* part_sums, cudaStream_t stream) {
  switch (mode) {
    case Mode::multiply: return launch_rows<double, Mode::multiply>(job, layout, part_sums, stream);
    case Mode::transposed: return launch_rows<double, Mode::transposed>(job, layout, part_sums, stream);
    case Mode::gram: return launch_rows<double, Mode::gram>(job, layout, part_sums, stream);
  }
}

}  // namespace stope::gram::cuda
