// One block of threads, with a warp per leaf, goes through rows and computes their y, the z of their groups, or both.
// The host's side is rows.cu. teams.cu computes rows with more leaves than one block takes.
#pragma once

#include "device/cuda/check.hpp"
#include "gram/cuda/row_range.cuh"
#include "gram/cuda/rows.hpp"
#include "gram/cuda/warp_rows.cuh"

namespace stope::gram::cuda {

using cuda_abi::Mode;

/// Rows that a block of threads multiplies per task, where there are no groups.
inline constexpr std::int64_t kChunkRows = 64;

template <class T>
inline constexpr int kBatchRows = kBatchBytes / Lane<T>::kLeafBytes;

/// The leaf of a row that a warp works on. A warp that is not there has none, and works on zeros.
struct LeafOfWarp {
  int lane, warp, n_warps;
  bool is_there;
  LaneColumns at;
};

/// Computes y[b], the product of x and row `row` + b, for the rows of a batch before `end`. Each warp adds up its leaf
/// of the rows in the ring's stages from `first_stage` on; then all leaves are added. All threads of a block must call
/// it.
template <class T, bool kShifted>
__device__ __forceinline__ void multiply_batch(const RowsJob& job, const char* ring, int first_stage, std::int64_t row,
                                               std::int64_t end, const LeafOfWarp& leaf, const double (&x)[kOwn],
                                               double (&leaf_sums)[2][kBatchRows<T>][16], int parity,
                                               double (&y)[kBatchRows<T>]) {
#pragma unroll
  for (int b = 0; b < kBatchRows<T>; ++b) {
    if (row + b >= end) continue;
    const double sum =
        leaf_sum<T, kShifted>(ring + (first_stage + b) * Lane<T>::kLeafBytes, leaf.lane, job.shift, leaf.at, x);
    // A warp without a leaf has no shift to subtract from its zeros either: its x is zero, but 0 * inf is not.
    if (leaf.lane == 0) leaf_sums[parity][b][leaf.warp] = leaf.is_there ? sum : 0.0;
  }
  // The leaves of the batch are there. Those of the next go to the other half, which all have read by then.
  __syncthreads();
#pragma unroll
  for (int b = 0; b < kBatchRows<T>; ++b) {
    if (row + b >= end) continue;
    y[b] = tree_of_16(leaf_sums[parity][b], leaf.n_warps, leaf.lane) + 0.0;
  }
}

/// The rows of a group, or of a chunk where there are no groups.
template <Mode kMode>
__device__ __forceinline__ RowRange rows_of_task(const RowsJob& job, std::int64_t task) {
  if constexpr (kMode != Mode::multiply) return rows_of_group(job, task);
  const std::int64_t begin = task * kChunkRows;
  return {begin, begin + kChunkRows < job.n ? begin + kChunkRows : job.n, true};
}

/// Computes `n_tasks` groups from `first_task` on, or chunks of rows. A block takes one part of the columns.
template <class T, bool kShifted, Mode kMode, int kRing>
__global__ void __launch_bounds__(512) rows_kernel(const RowsJob job, std::int64_t first_task, std::int64_t n_tasks,
                                                   std::int64_t n_parts, double* part_sums) {
  constexpr int kBatch = kBatchRows<T>, kStages = kRing * kBatch;
  extern __shared__ __align__(16) char shared[];
  __shared__ double leaf_sums[2][kBatch][16];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int n_warps = static_cast<int>(blockDim.x) / 32;
  const std::int64_t part = static_cast<std::int64_t>(blockIdx.x) % n_parts;
  const std::int64_t first_column = (part * n_warps + warp) * kLeafColumns;
  // A block may have more warps than leaves are left. Those warps work on zeros, at columns that exist.
  const bool is_there = first_column < job.n_columns;
  const LaneColumns at = LaneColumns::of(first_column, lane, job.n_columns);
  char* const ring = shared + static_cast<std::int64_t>(warp) * kStages * Lane<T>::kLeafBytes;
  const T* const rows = static_cast<const T*>(job.rows);
  const std::int64_t stride = padded_columns(job.n_columns);  // sum_columns() of rows that are not narrow

  let_next_kernel_begin();
  double x[kOwn], z[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) x[i] = z[i] = 0.0;
  if (kMode != Mode::transposed && is_there) read_vector(job.x, at, x);

  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) / n_parts;
  for (std::int64_t task = static_cast<std::int64_t>(blockIdx.x) / n_parts; task < n_tasks; task += step) {
    const RowRange range = rows_of_task<kMode>(job, first_task + task);
    double* const sums = job.sums + (first_task + task - job.first_group) * stride;
    if constexpr (kMode != Mode::multiply) {
#pragma unroll
      for (int i = 0; i < kOwn; ++i) z[i] = 0.0;
      if (!range.fresh && is_there) read_vector(sums, at, z);
    }

    const auto fetch = [&](std::int64_t row, int stage) {
      if (row < range.end) Lane<T>::fetch(ring + stage * Lane<T>::kLeafBytes, rows + row * job.row_stride, at, lane);
      end_copies();  // one group of copies per row, so that they can be counted
    };
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) fetch(range.begin + stage, stage);

    int first_stage = 0, parity = 0;
    for (std::int64_t row = range.begin; row < range.end; row += kBatch) {
      wait_for_leaf<T, kStages - kBatch>();
      double y[kBatch] = {};
      if constexpr (kMode == Mode::transposed) {
#pragma unroll
        for (int b = 0; b < kBatch; ++b) y[b] = row + b < range.end ? job.y[job.first - job.first_y + row + b] : 0.0;
      } else {
        multiply_batch<T, kShifted>(job, ring, first_stage, row, range.end, {lane, warp, n_warps, is_there, at}, x,
                                    leaf_sums, parity, y);
        parity ^= 1;
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (row + b < range.end) {
          if constexpr (kMode == Mode::multiply) {
            if (threadIdx.x == 0) {
              if (n_parts == 1) {
                job.y[job.first - job.first_y + row + b] = y[b];
              } else {
                part_sums[(row + b) * n_parts + part] = y[b];
              }
            }
          } else {
            add_row<T, kShifted>(ring + (first_stage + b) * Lane<T>::kLeafBytes, lane, job.shift, at, y[b], z);
          }
        }
        fetch(row + b + kStages, first_stage + b);
      }
      first_stage = first_stage + kBatch == kStages ? 0 : first_stage + kBatch;
    }
    if constexpr (kMode != Mode::multiply) {
      if (is_there) write_vector(sums, at, z);
    }
    // The first batch of the next task must not overwrite leaves that a slower warp still reads.
    if constexpr (kMode != Mode::transposed) __syncthreads();
  }
}

template <class T, bool kShifted, Mode kMode, int kRing>
void launch_rows(const RowsJob& job, const Layout& layout, double* part_sums, cudaStream_t stream) {
  const std::int64_t leaves = n_leaves(job.n_columns);
  const std::int64_t warps = leaves < layout.block_leaves ? leaves : layout.block_leaves;
  const std::int64_t parts = (leaves + warps - 1) / warps;
  std::int64_t first_task = 0, n_tasks = (job.n + kChunkRows - 1) / kChunkRows;
  if (kMode != Mode::multiply) {
    first_task = job.begin_group();
    n_tasks = job.n_own_groups();
  }
  auto* const kernel = rows_kernel<T, kShifted, kMode, kRing>;
  const auto shared = static_cast<int>(warps) * kRing * kBatchBytes;
  stope::cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
                     "reserving shared memory");
  int per_multiprocessor = 0;
  stope::cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                         &per_multiprocessor, kernel, static_cast<int>(32 * warps), static_cast<std::size_t>(shared)),
                     "asking how many blocks fit");
  const std::int64_t room =
      static_cast<std::int64_t>(layout.multiprocessors) * (per_multiprocessor > 0 ? per_multiprocessor : 1);
  const std::int64_t side_by_side = room / parts > 1 ? room / parts : 1;
  const std::int64_t blocks = (n_tasks < side_by_side ? n_tasks : side_by_side) * parts;
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * warps), static_cast<unsigned>(shared), stream>>>(
      job, first_task, n_tasks, parts, part_sums);
  stope::cuda::check_launch("multiplying rows");
}

template <class T, Mode kMode>
void launch_rows(const RowsJob& job, const Layout& layout, double* part_sums, cudaStream_t stream) {
  const bool shifted = job.shift != nullptr;
  if (layout.ring == 3) {
    shifted ? launch_rows<T, true, kMode, 3>(job, layout, part_sums, stream)
            : launch_rows<T, false, kMode, 3>(job, layout, part_sums, stream);
  } else {
    shifted ? launch_rows<T, true, kMode, 2>(job, layout, part_sums, stream)
            : launch_rows<T, false, kMode, 2>(job, layout, part_sums, stream);
  }
}

}  // namespace stope::gram::cuda
