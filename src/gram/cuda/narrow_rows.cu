// y = A x, z = A^T y or z = A^T (A x) where a row is half a leaf or less (gram/shape.hpp). A warp has a group of rows.
// It takes them in batches, which lie one after the other in memory.
//   1. The lanes copy a later batch, side by side.
//   2. A row of the batch is multiplied with x by a lane for every four columns, rounded up to a power of two. So a
//      warp multiplies up to 32 rows at once. The leaf's other lanes would only add zeros.
//   3. Each lane adds y a' of the batch's rows, in their order, to its columns of z.
#include <algorithm>

#include "device/cuda/check.hpp"
#include "gram/cuda/row_range.cuh"
#include "gram/cuda/rows.hpp"
#include "gram/cuda/warp_rows.cuh"

namespace stope::gram::cuda {
namespace {

using cuda_abi::Mode;

constexpr int kStages = 3;     // batches in shared memory
constexpr int kMostRows = 64;  // of a batch

/// For kColumns columns of z a lane: a row's rounds of a leaf, and the rows that a lane multiplies side by side.
template <int kColumns>
constexpr int kRoundsOf = kColumns > 4 ? kColumns / 4 : 1;
template <int kColumns>
constexpr int kRowsOfLane = 4 / kRoundsOf<kColumns>;

/// How the rows lie in a batch, and among the lanes.
struct Batches {
  int row_bytes, rows, lanes_of_row;

  static Batches of(std::int64_t n_columns, std::int64_t row_stride, std::int64_t element_bytes, int rows_of_lane) {
    Batches batches{.row_bytes = static_cast<int>(row_stride * element_bytes), .rows = 0, .lanes_of_row = 1};
    while (batches.lanes_of_row < 32 && 4 * batches.lanes_of_row < n_columns) batches.lanes_of_row *= 2;
    batches.rows = std::min(kMostRows, kBatchBytes / batches.row_bytes);
    const int step = rows_of_lane * 32 / batches.lanes_of_row;
    if (batches.rows > step) batches.rows -= batches.rows % step;
    return batches;
  }
};

/// Four elements of a row in shared memory, as doubles. A piece of 16 bytes that begins behind the row's end is zeros.
template <class T>
__device__ __forceinline__ void read_four(const char* row, int column, int n_columns, double (&a)[4]) {
  constexpr int kInPiece = Lane<T>::kInPiece;
#pragma unroll
  for (int first = 0; first < 4; first += kInPiece) {
    alignas(16) T piece[kInPiece] = {};
    if (column + first < n_columns) {
      *reinterpret_cast<uint4*>(piece) =
          *reinterpret_cast<const uint4*>(row + (column + first) * static_cast<int>(sizeof(T)));
    }
#pragma unroll
    for (int k = 0; k < kInPiece; ++k) a[first + k] = static_cast<double>(piece[k]);
  }
}

/// Computes y of the n rows of a batch.
template <class T, bool kShifted, int kRowRounds, int kAtOnce>
__device__ __forceinline__ void multiply_batch(const RowsJob& job, const Batches& batches, const char* batch, int n,
                                               const double (&x)[4 * kRowRounds], double* ys) {
  const int lane = static_cast<int>(threadIdx.x), in_row = lane % batches.lanes_of_row;
  const int side_by_side = 32 / batches.lanes_of_row, own = lane / batches.lanes_of_row;
  for (int begin = 0; begin < n; begin += kAtOnce * side_by_side) {
    double sums[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const char* const row = batch + min(begin + i * side_by_side + own, n - 1) * batches.row_bytes;
      double slots[4] = {};
#pragma unroll
      for (int round = 0; round < kRowRounds; ++round) {
        const int column = round * static_cast<int>(kSlots) + 4 * in_row;
        double a[4];
        read_four<T>(row, column, static_cast<int>(job.n_columns), a);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if constexpr (kShifted) a[k] -= __ldg(job.shift + column + k);
          slots[k] = round == 0 ? a[k] * x[k] : __fma_rn(a[k], x[4 * round + k], slots[k]);
        }
      }
      sums[i] = (slots[0] + slots[1]) + (slots[2] + slots[3]);
    }
    for (int half = batches.lanes_of_row / 2; half >= 1; half /= 2) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) sums[i] += __shfl_xor_sync(0xffffffffU, sums[i], half);
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int row = begin + i * side_by_side + own;
      if (in_row == 0 && row < n) ys[row] = sums[i] + 0.0;
    }
  }
}

/// A lane has the columns lane, lane + 32 ... in z: kColumns of them, of which some may not exist.
template <class T, bool kShifted, int kColumns>
__device__ __forceinline__ void add_batch(const RowsJob& job, const Batches& batches, const char* batch, int n,
                                          const double* ys, double (&z)[kColumns]) {
  int columns[kColumns];
  double shift[kColumns];
#pragma unroll
  for (int i = 0; i < kColumns; ++i) {
    columns[i] = min(static_cast<int>(threadIdx.x) + 32 * i, static_cast<int>(job.n_columns) - 1);
    shift[i] = kShifted ? __ldg(job.shift + columns[i]) : 0.0;
  }
#pragma unroll 4
  for (int row = 0; row < n; ++row) {
    const T* const elements = reinterpret_cast<const T*>(batch + row * batches.row_bytes);
    const double y = ys[row];
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      double a = static_cast<double>(elements[columns[i]]);
      if constexpr (kShifted) a -= shift[i];
      z[i] = __fma_rn(y, a, z[i]);
    }
  }
}

/// What a block, which is one warp, has in shared memory.
struct Shared {
  alignas(16) char stages[kStages][kBatchBytes];
  double ys[kMostRows];
};

/// Goes through rows, batch by batch: writes their y, or adds them to z.
template <class T, bool kShifted, int kColumns>
__device__ __forceinline__ void take_rows(Mode mode, const RowsJob& job, const Batches& batches, const RowRange& range,
                                          const double (&x)[4 * kRoundsOf<kColumns>], Shared& shared,
                                          double (&z)[kColumns]) {
  const int lane = static_cast<int>(threadIdx.x);
  double* const all_ys = job.y + (job.first - job.first_y);
  double* const ys = shared.ys;
  const auto rows_from = [&](std::int64_t row) {
    return static_cast<int>(row < range.end ? min(range.end - row, static_cast<std::int64_t>(batches.rows)) : 0);
  };
  const auto fetch = [&](std::int64_t row, int stage) {
    const char* const from = static_cast<const char*>(job.rows) + row * batches.row_bytes;
    const int bytes = rows_from(row) * batches.row_bytes;
    for (int at = 16 * lane; at < bytes; at += 16 * 32) stope::cuda::copy<16>(shared.stages[stage] + at, from + at);
    end_copies();
  };
#pragma unroll
  for (int stage = 0; stage + 1 < kStages; ++stage) fetch(range.begin + stage * batches.rows, stage);
  int stage = 0, free_stage = kStages - 1;
  for (std::int64_t row = range.begin; row < range.end; row += batches.rows) {
    fetch(row + (kStages - 1) * batches.rows, free_stage);
    stope::cuda::wait_for_copies<kStages - 1>();
    const char* const batch = shared.stages[stage];
    const int n = rows_from(row);
    if (mode == Mode::transposed) {
      for (int i = lane; i < n; i += 32) ys[i] = all_ys[row + i];
    }
    __syncwarp();  // all lanes' copies are there
    if (mode != Mode::transposed) {
      multiply_batch<T, kShifted, kRoundsOf<kColumns>, kRowsOfLane<kColumns>>(job, batches, batch, n, x, ys);
      __syncwarp();
    }
    if (mode == Mode::multiply) {
      for (int i = lane; i < n; i += 32) all_ys[row + i] = ys[i];
    } else {
      add_batch<T, kShifted>(job, batches, batch, n, ys, z);
    }
    __syncwarp();  // the stage and ys may be written again
    free_stage = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
  }
}

/// `any_mode` is ignored where kGram: the mode is gram then.
template <class T, bool kShifted, int kColumns, bool kGram>
__global__ void __launch_bounds__(32, 16) narrow_rows_kernel(Mode any_mode, const RowsJob job, const Batches batches,
                                                             std::int64_t first_group, std::int64_t n_groups) {
  __shared__ Shared shared;
  const Mode mode = kGram ? Mode::gram : any_mode;
  const int lane = static_cast<int>(threadIdx.x);
  let_next_kernel_begin();
  double x[4 * kRoundsOf<kColumns>] = {}, z[kColumns];
  if (mode != Mode::transposed) {
#pragma unroll
    for (int i = 0; i < 4 * kRoundsOf<kColumns>; ++i) {
      x[i] = job.x[i / 4 * kSlots + 4 * (lane % batches.lanes_of_row) + i % 4];
    }
  }
  for (std::int64_t group = first_group + blockIdx.x; group < first_group + n_groups; group += gridDim.x) {
    const RowRange range = rows_of_group(job, group);
    double* const sums = job.sums + (group - job.first_group) * sum_columns(job.n_columns);
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int column = lane + 32 * i;
      z[i] = mode != Mode::multiply && !range.fresh && column < job.n_columns ? sums[column] : 0.0;
    }
    take_rows<T, kShifted, kColumns>(mode, job, batches, range, x, shared, z);
    if (mode == Mode::multiply) continue;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) {
      const int column = lane + 32 * i;
      if (column < sum_columns(job.n_columns)) sums[column] = column < job.n_columns ? z[i] : 0.0;
    }
  }
}

template <class T, bool kShifted, int kColumns, bool kGram>
void launch_narrow_rows(Mode mode, const RowsJob& job, const Layout& layout, cudaStream_t stream) {
  auto* const kernel = narrow_rows_kernel<T, kShifted, kColumns, kGram>;
  int per_multiprocessor = 0;
  stope::cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, 32, 0),
                     "asking how many blocks fit");
  const std::int64_t groups = job.n_own_groups();
  const std::int64_t room = static_cast<std::int64_t>(layout.multiprocessors) * std::max(per_multiprocessor, 1);
  kernel<<<static_cast<unsigned>(std::min(groups, room)), 32, 0, stream>>>(
      mode, job, Batches::of(job.n_columns, job.row_stride, sizeof(T), kRowsOfLane<kColumns>), job.begin_group(),
      groups);
  stope::cuda::check_launch("multiplying narrow rows");
}

template <class T, bool kShifted, int kColumns>
void launch_narrow_rows(Mode mode, const RowsJob& job, const Layout& layout, cudaStream_t stream) {
  mode == Mode::gram ? launch_narrow_rows<T, kShifted, kColumns, true>(mode, job, layout, stream)
                     : launch_narrow_rows<T, kShifted, kColumns, false>(mode, job, layout, stream);
}

template <class T, bool kShifted>
void launch_narrow_rows(Mode mode, const RowsJob& job, const Layout& layout, cudaStream_t stream) {
  if (job.n_columns <= 32) return launch_narrow_rows<T, kShifted, 1>(mode, job, layout, stream);
  if (job.n_columns <= 64) return launch_narrow_rows<T, kShifted, 2>(mode, job, layout, stream);
  if (job.n_columns <= 128) return launch_narrow_rows<T, kShifted, 4>(mode, job, layout, stream);
  return launch_narrow_rows<T, kShifted, 8>(mode, job, layout, stream);
}

template <class T>
void launch_narrow_rows(Mode mode, const RowsJob& job, const Layout& layout, cudaStream_t stream) {
  job.shift != nullptr ? launch_narrow_rows<T, true>(mode, job, layout, stream)
                       : launch_narrow_rows<T, false>(mode, job, layout, stream);
}

}  // namespace

bool NarrowRows::suit(const RowsJob& job) {
  static_assert(kMostNarrowColumns * sizeof(double) <= kBatchBytes);
  return job.n_columns <= kMostNarrowColumns;
}

void NarrowRows::launch(Mode mode, const RowsJob& job, std::int64_t element_bytes, const Layout& layout,
                        cudaStream_t stream) {
  element_bytes == 4 ? launch_narrow_rows<float>(mode, job, layout, stream)
                     : launch_narrow_rows<double>(mode, job, layout, stream);
}

}  // namespace stope::gram::cuda
