// Chooses how a GPU is used for rows, and adds the sums that several blocks of threads leave (gram/cuda/rows.hpp).
#include "gram/cuda/rows.hpp"

#include "device/cuda/attribute.hpp"
#include "device/cuda/check.hpp"
#include "gram/cuda/rows_launch.hpp"
#include "gram/cuda/warp_rows.cuh"
#include "gram/shape.hpp"

namespace stope::gram::cuda {
namespace {

using cuda_abi::Mode;
using stope::cuda::check;

constexpr int kMostBlockLeaves = 16;

void launch(Mode mode, const RowsJob& job, std::int64_t element_bytes, const Layout& layout, double* part_sums,
            cudaStream_t stream) {
  if (job.n == 0) return;
  if (NarrowRows::suit(job)) return NarrowRows::launch(mode, job, element_bytes, layout, stream);
  (element_bytes == 4 ? launch_float_rows : launch_double_rows)(mode, job, layout, part_sums, stream);
}

/// Adds the parts of each row's product to its y. One thread per row is enough: rows of several parts are long, so
/// there are few.
__global__ void add_parts_kernel(double* part_sums, std::int64_t n_parts, std::int64_t n, double* y) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < n) y[row] = tree_sum(part_sums + row * n_parts, n_parts) + 0.0;
}

// A block adds `factor` groups of 16 columns. Each thread adds 8 groups of one column. Then the threads of a column,
// whose number is a power of two, add their sums.
constexpr int kGroupsOfThread = 8, kMostThreadsOfColumn = 32, kColumnsOfBlock = kStripColumns;

__global__ void __launch_bounds__(kMostThreadsOfColumn* kColumnsOfBlock)
    add_groups_kernel(const double* from, std::int64_t n_groups, std::int64_t n_columns, int factor, double* to) {
  __shared__ double sums[kMostThreadsOfColumn][kColumnsOfBlock];
  const std::int64_t n_strips = n_columns / kColumnsOfBlock;
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) / n_strips;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) % n_strips * kColumnsOfBlock + threadIdx.x;
  const int first = static_cast<int>(threadIdx.y) * kGroupsOfThread;
  wait_for_kernel_before();
  double values[kGroupsOfThread];
#pragma unroll
  for (int i = 0; i < kGroupsOfThread; ++i) {
    const std::int64_t group = block * factor + first + i;
    values[i] = first + i < factor && group < n_groups ? from[group * n_columns + column] : 0.0;
  }
#pragma unroll
  for (int step = 1; step < kGroupsOfThread; step *= 2) {
#pragma unroll
    for (int i = 0; i < kGroupsOfThread; i += 2 * step) values[i] += values[i + step];
  }
  sums[threadIdx.y][threadIdx.x] = values[0];
  for (unsigned step = 1; step < blockDim.y; step *= 2) {
    __syncthreads();  // the sums of the step before are written
    if (threadIdx.y % (2 * step) == 0) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + step][threadIdx.x];
  }
  if (threadIdx.y == 0) to[block * n_columns + column] = sums[0][threadIdx.x];
}
static_assert(kGroupsOfThread * kMostThreadsOfColumn == 256);
static_assert(kLeafColumns % kColumnsOfBlock == 0);

}  // namespace

Layout layout_of(int gpu) {
  const int shared = stope::cuda::attribute_of(gpu, cudaDevAttrMaxSharedMemoryPerBlockOptin) - kReservedBytes;
  Layout layout{kMostBlockLeaves, 3, stope::cuda::attribute_of(gpu, cudaDevAttrMultiProcessorCount),
                stope::cuda::attribute_of(gpu, cudaDevAttrComputeCapabilityMajor), shared};
  if (layout.block_leaves * layout.ring * kBatchBytes > shared) layout.ring = 2;
  while (layout.block_leaves > 1 && layout.block_leaves * layout.ring * kBatchBytes > shared) layout.block_leaves /= 2;
  return layout;
}

std::int64_t n_parts(const Layout& layout, std::int64_t n_columns) {
  return (n_leaves(n_columns) + layout.block_leaves - 1) / layout.block_leaves;
}

void launch_gram_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, cudaStream_t stream) {
  if (job.n == 0) return;
  if (ShortGroups::suit(job, element_bytes, layout)) return ShortGroups::launch(job, element_bytes, stream);
  launch(Mode::gram, job, element_bytes, layout, nullptr, stream);
}

void launch_transposed_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, cudaStream_t stream) {
  launch(Mode::transposed, job, element_bytes, layout, nullptr, stream);
}

void launch_multiply_rows(const RowsJob& job, std::int64_t element_bytes, const Layout& layout, double* part_sums,
                          cudaStream_t stream) {
  launch(Mode::multiply, job, element_bytes, layout, part_sums, stream);
  const std::int64_t parts = n_parts(layout, job.n_columns);
  if (parts == 1 || job.n == 0) return;
  constexpr int kThreads = 32;
  add_parts_kernel<<<static_cast<unsigned>((job.n + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      part_sums, parts, job.n, job.y + (job.first - job.first_y));
  stope::cuda::check_launch("adding parts of rows");
}

void launch_add_groups(const double* from, std::int64_t n_groups, std::int64_t n_columns, int factor,
                       const Layout& layout, double* to, cudaStream_t stream) {
  const std::int64_t blocks = (n_groups + factor - 1) / factor * (n_columns / kColumnsOfBlock);
  int threads_of_column = 1;
  while (threads_of_column * kGroupsOfThread < factor && threads_of_column * kGroupsOfThread < n_groups) {
    threads_of_column *= 2;
  }
  stope::cuda::launch_early(add_groups_kernel, dim3(static_cast<unsigned>(blocks)),
                            dim3(kColumnsOfBlock, static_cast<unsigned>(threads_of_column)), 0, stream, layout.major,
                            "adding groups", from, n_groups, n_columns, factor, to);
}

}  // namespace stope::gram::cuda
