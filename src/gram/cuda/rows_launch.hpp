// The launches of rows_kernel.cuh, in one file per type of elements.
#pragma once

#include "gram/cuda/rows.hpp"

namespace stope::gram::cuda {

void launch_float_rows(cuda_abi::Mode mode, const RowsJob& job, const Layout& layout, double* part_sums,
                       cudaStream_t stream);
void launch_double_rows(cuda_abi::Mode mode, const RowsJob& job, const Layout& layout, double* part_sums,
                        cudaStream_t stream);

}  // namespace stope::gram::cuda
