// z = A^T (A x) for matrices so small that every group of rows (gram/shape.hpp) fits the shared memory of a block of
// threads. 1792 x 1792, for example, has groups of 8 rows. There the time goes not into memory but into sending one row
// after another through a warp. Here all rows of a group go through all warps at once, and each step is done once.
//   1. A warp copies its leaf of some rows, and multiplies them with x.
//   2. After a barrier, a warp adds the leaves of a row to its y.
//   3. After another barrier, each thread adds y a' of all rows, in their order, to its columns.
#include "device/cuda/check.hpp"
#include "gram/cuda/row_range.cuh"
#include "gram/cuda/rows.hpp"
#include "gram/cuda/warp_rows.cuh"

namespace stope::gram::cuda {
namespace {

constexpr int kThreads = 512, kWarps = kThreads / 32, kMostLeaves = 16;
constexpr int kMostRows = 64;                    // in a group
constexpr int kMostNarrowGroups = 4;             // of narrow rows, for each SM
constexpr std::int64_t kMostBytes = 100 * 1024;  // of a group in shared memory, so that an SM has two blocks

std::int64_t most_rows(const RowsJob& job) {
  return job.groups.rows + (job.groups.longer > 0 ? 1 : 0);
}
std::int64_t group_bytes(const RowsJob& job, std::int64_t element_bytes) {
  return most_rows(job) * padded_columns(job.n_columns) * element_bytes;
}

template <class T, bool kShifted>
__global__ void __launch_bounds__(kThreads, 2)
    short_groups_kernel(const __grid_constant__ RowsJob job, std::int64_t first_group, int n_leaves) {
  extern __shared__ __align__(16) char stages[];  // [row][leaf]
  __shared__ double leaf_sums[kMostRows][kMostLeaves], ys[kMostRows];
  static_assert(sizeof(leaf_sums) + sizeof(ys) <= kReservedBytes);
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t group = first_group + blockIdx.x;
  const RowRange range = rows_of_group(job, group);
  const int n = static_cast<int>(range.end - range.begin), rows_at_once = kWarps / n_leaves;
  const int leaf = warp % n_leaves, first_row = warp / n_leaves;
  // Where the number of leaves does not divide that of warps, some warps have none.
  const bool works = first_row < rows_at_once;
  const auto stage = [&](int row, int l) { return stages + (row * n_leaves + l) * Lane<T>::kLeafBytes; };

  let_next_kernel_begin();
  const LaneColumns at = LaneColumns::of(leaf * kLeafColumns, lane, job.n_columns);
  if (works) {
    const T* from = static_cast<const T*>(job.rows) + (range.begin + first_row) * job.row_stride;
    for (int row = first_row; row < n; row += rows_at_once, from += rows_at_once * job.row_stride) {
      Lane<T>::fetch(stage(row, leaf), from, at, lane);
    }
    end_copies();
    double x[kOwn];
    read_vector(job.x, at, x);
    wait_for_leaf<T, 0>();
    for (int row = first_row; row < n; row += rows_at_once) {
      const double sum = leaf_sum<T, kShifted>(stage(row, leaf), lane, job.shift, at, x);
      if (lane == 0) leaf_sums[row][leaf] = sum;
    }
  }
  __syncthreads();
  for (int row = warp; row < n; row += kWarps) {
    const double y = tree_of_16(leaf_sums[row], n_leaves, lane) + 0.0;
    if (lane == 0) ys[row] = y;
  }
  __syncthreads();
  const int n_sums = static_cast<int>(sum_columns(job.n_columns));
  double* const sums = job.sums + (group - job.first_group) * n_sums;
  for (int column = static_cast<int>(threadIdx.x); column < n_sums; column += kThreads) {
    const double shift = kShifted ? job.shift[column] : 0.0;
    const char* element =
        stage(0, column / static_cast<int>(kLeafColumns)) + Lane<T>::offset(column % static_cast<int>(kLeafColumns));
    double z = range.fresh ? 0.0 : sums[column];
#pragma unroll 8
    for (int row = 0; row < n; ++row, element += n_leaves * Lane<T>::kLeafBytes) {
      double a = static_cast<double>(*reinterpret_cast<const T*>(element));
      if constexpr (kShifted) a -= shift;
      z = __fma_rn(ys[row], a, z);
    }
    sums[column] = z;
  }
}

template <class T, bool kShifted>
void launch_short_groups(const RowsJob& job, cudaStream_t stream) {
  const auto shared = static_cast<int>(group_bytes(job, sizeof(T)));
  auto* const kernel = short_groups_kernel<T, kShifted>;
  stope::cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                     "reserving shared memory");
  kernel<<<static_cast<unsigned>(job.n_own_groups()), kThreads, static_cast<unsigned>(shared), stream>>>(
      job, job.begin_group(), static_cast<int>(n_leaves(job.n_columns)));
  stope::cuda::check_launch("multiplying short groups of rows");
}

template <class T>
void launch_short_groups(const RowsJob& job, cudaStream_t stream) {
  job.shift != nullptr ? launch_short_groups<T, true>(job, stream) : launch_short_groups<T, false>(job, stream);
}

}  // namespace

bool ShortGroups::suit(const RowsJob& job, std::int64_t element_bytes, const Layout& layout) {
  // Where both suit, NarrowRows is faster for rows of up to 128 columns (kSlots), and for many groups: measured on an
  // H200 with 20 to 512 columns and 1,792 to 100,000 rows.
  const bool narrow = NarrowRows::suit(job);
  if (narrow && (job.n_columns <= kSlots || job.n_own_groups() > kMostNarrowGroups * layout.multiprocessors))
    return false;
  return n_leaves(job.n_columns) <= kMostLeaves && most_rows(job) <= kMostRows &&
         group_bytes(job, element_bytes) <= layout.shared_bytes && group_bytes(job, element_bytes) <= kMostBytes;
}

void ShortGroups::launch(const RowsJob& job, std::int64_t element_bytes, cudaStream_t stream) {
  element_bytes == 4 ? launch_short_groups<float>(job, stream) : launch_short_groups<double>(job, stream);
}

}  // namespace stope::gram::cuda
