// Chooses the kernels that make a pass, their shapes and their order.
#include "stats/cuda/pass.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "device/cuda/attribute.hpp"
#include "device/cuda/check.hpp"
#include "device/cuda/launch.cuh"
#include "stats/cuda/columns.cuh"
#include "stats/cuda/joins.cuh"
#include "stats/cuda/rows.cuh"

namespace stope::stats::cuda {
namespace {

using stope::cuda::check;

unsigned grid(std::int64_t blocks) {
  if (blocks > INT32_MAX) throw Error(ErrorCode::unsupported, "too many columns for one launch on a GPU");
  return static_cast<unsigned>(blocks);
}

constexpr int kLeastSharedBytes = 64 * 1024;  // what a block may have on Turing, the least of all

struct Gpu {
  int multiprocessors, major, shared_bytes;  ///< shared memory that a block may have

  static Gpu current() {
    using stope::cuda::attribute;
    return {attribute(cudaDevAttrMultiProcessorCount), attribute(cudaDevAttrComputeCapabilityMajor),
            attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
  }
};

template <class Kernel>
void prepare(Kernel* kernel, int shared_bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
        "reserving shared memory");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared),
        "preferring shared memory");  // room for as many rings as possible matters more than a large cache
}

template <class T, bool kMoments, int kBatches>
void launch_columns(const Matrix<T>& matrix, const PassShape& shape, const Gpu& gpu,
                    Part<typename Numbers<T>::Wide>* out, cudaStream_t stream) {
  auto* const kernel = columns_kernel<T, kMoments, kBatches>;
  constexpr int kBytes = sizeof(ColumnsShared<T, kBatches>);
  static_assert(kBatches > kFewColumnBatches || kBytes <= kLeastSharedBytes);
  prepare(kernel, kBytes);
  int per_multiprocessor = 0;  // no more blocks than run at the same time: each goes through tasks
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, kColumnsThreads, kBytes),
        "asking how many blocks fit");
  const std::int64_t n_tasks = checked::mul(matrix.n_columns, shape.n_parts);
  const std::int64_t room = std::int64_t{per_multiprocessor} * gpu.multiprocessors;
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(n_tasks, 1, std::max<std::int64_t>(room, 1)));
  const ColumnsTasks tasks = {matrix.n_columns, shape.n_parts, blocks / shape.n_parts, blocks % shape.n_parts};
  kernel<<<blocks, kColumnsThreads, kBytes, stream>>>(matrix, tasks, out);
  stope::cuda::check_launch("statistics of columns");
}

/// A tile has up to 128 bytes of a row. So a block has all chains of a leaf, and neighbouring blocks read neighbouring
/// rows at the same time. Rows wider than kNarrowRow have tiles of 256 bytes, which suit the memory better.
template <class T>
RowsShape rows_shape(const Matrix<T>& matrix, std::int64_t n_leaves) {
  constexpr int kNarrow = 8, kWide = kMostRowsThreads / kChains * 2, kNarrowRow = 32 * kVector<T>;
  const bool is_aligned =
      reinterpret_cast<std::uintptr_t>(matrix.data) % 16 == 0 && matrix.row_stride % kVector<T> == 0;
  const int slack = is_aligned ? 0 : kVector<T> - 1;  // values that may lie before the first one of a row
  RowsShape shape{};
  shape.n_leaves = n_leaves;
  shape.n_turns = matrix.n_columns > kNarrowRow ? 2 : 1;
  const std::int64_t widest = (shape.n_turns == 2 ? kWide : kNarrow) * kVector<T> - slack;
  shape.n_tiles = checked::ceil_div(matrix.n_columns, widest);
  const std::int64_t even = checked::ceil_div(matrix.n_columns, shape.n_tiles);
  const std::int64_t vectors = shape.n_turns == 2 ? kWide : checked::ceil_div(even + slack, std::int64_t{kVector<T>});
  shape.column_threads = static_cast<int>(vectors);
  shape.width = shape.column_threads * kVector<T> - slack;
  return shape;
}

template <class T, bool kMoments>
void launch_rows(const Matrix<T>& matrix, std::int64_t n_leaves, Part<typename Numbers<T>::Wide>* out,
                 cudaStream_t stream) {
  auto* const kernel = rows_kernel<T, kMoments>;
  const RowsShape shape = rows_shape(matrix, n_leaves);
  const int threads = shape.column_threads * kChains / shape.n_turns;
  const int bytes = threads * kThreadBytes<T> + shape.width * static_cast<int>(sizeof(*out));
  static_assert(kMostRowsThreads * kThreadBytes<T> + 16 * kVector<T> * static_cast<int>(sizeof(*out)) <=
                kLeastSharedBytes);
  prepare(kernel, bytes);
  kernel<<<grid(checked::mul(n_leaves, shape.n_tiles)), threads, bytes, stream>>>(matrix, shape, out);
  stope::cuda::check_launch("statistics of rows");
}

template <class T, bool kMoments>
void* launch(const cuda_abi::Values& values, const PassShape& shape, void* first, void* second, cudaStream_t stream) {
  using Wide = typename Numbers<T>::Wide;
  const Matrix<T> matrix = {.data = static_cast<const T*>(values.data),
                            .n_rows = values.n_rows,
                            .n_columns = values.n_columns,
                            .row_stride = values.row_stride,
                            .column_stride = values.column_stride,
                            .scale = values.scale};
  const Gpu gpu = Gpu::current();
  auto* in = static_cast<Part<Wide>*>(first);
  auto* out = static_cast<Part<Wide>*>(second);
  if (shape.by_rows) {
    launch_rows<T, kMoments>(matrix, shape.n_parts, in, stream);
  } else if (sizeof(ColumnsShared<T, kColumnBatches>) <= static_cast<std::size_t>(gpu.shared_bytes)) {
    launch_columns<T, kMoments, kColumnBatches>(matrix, shape, gpu, in, stream);
  } else {
    launch_columns<T, kMoments, kFewColumnBatches>(matrix, shape, gpu, in, stream);
  }
  for (std::int64_t n = shape.n_parts, n_out = 0; n_out != 1; n = n_out, std::swap(in, out)) {
    n_out = checked::ceil_div(n, kJoinedAtOnce);
    stope::cuda::launch_early(join_kernel<T, kMoments>, grid(checked::mul(matrix.n_columns, n_out)), kJoinThreads, 0,
                              stream, gpu.major, "joining statistics", matrix, in, n, n_out, out);
  }
  return in;
}

template <class T>
void* launch(const cuda_abi::Values& values, const PassShape& shape, void* first, void* second, cudaStream_t stream) {
  return values.moments != 0 ? launch<T, true>(values, shape, first, second, stream)
                             : launch<T, false>(values, shape, first, second, stream);
}

}  // namespace

PassShape shape_of(const cuda_abi::Values& values) {
  const std::int64_t n_leaves = checked::ceil_div(values.n_rows, kLeafRows);
  // The rows of a column lie one behind the other: one column, or a column-major matrix.
  if (values.row_stride == 1) return {false, checked::ceil_div(n_leaves, kAdders)};
  return {true, n_leaves};
}

std::int64_t most_parts(const PassShape& shape, std::int64_t n_columns) {
  return checked::mul(shape.n_parts, n_columns);
}

void* launch_pass(const cuda_abi::Values& values, const PassShape& shape, void* first, void* second,
                  cudaStream_t stream) {
  switch (values.type) {
    case cuda_abi::Type::float32: return launch<float>(values, shape, first, second, stream);
    case cuda_abi::Type::float64: return launch<double>(values, shape, first, second, stream);
    case cuda_abi::Type::int32: return launch<std::int32_t>(values, shape, first, second, stream);
    case cuda_abi::Type::int64: break;
  }
  return launch<std::int64_t>(values, shape, first, second, stream);
}

}  // namespace stope::stats::cuda
