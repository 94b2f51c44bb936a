// The kernels of rows_kernel.cuh for float32.
#include "gram/cuda/rows_kernel.cuh"
#include "gram/cuda/rows_launch.hpp"

namespace stope::gram::cuda {

void launch_float_rows(Mode mode, const RowsJob& job, const Layout& layout, double* part_sums, cudaStream_t stream) {
  switch (mode) {
    case Mode::multiply: return launch_rows<float, Mode::multiply>(job, layout, part_sums, stream);
    case Mode::transposed: return launch_rows<float, Mode::transposed>(job, layout, part_sums, stream);
    case Mode::gram: return launch_rows<float, Mode::gram>(job, layout, part_sums, stream);
  }
}

}  // namespace stope::gram::cuda
