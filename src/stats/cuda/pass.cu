#include "stats/cuda/pass.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "device/cuda/check.hpp"
#include "stats/cuda/chain.cuh"

namespace stope::stats::cuda {
namespace {

constexpr int kWarp = 32, kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kJoinedAtOnce = 256;
static_assert(kChains == kWarp);

// Values of a chain that are on their way while the ones before them are added: by as many threads as an SM then holds,
// 32 KiB and more, which hide the memory's latency at its full rate.
template <class T>
constexpr int kColumnBatch = sizeof(T) == 4 ? 16 : 8;
template <int kVector>
constexpr int kRowBatch = kVector == 1 ? 8 : 4;

template <class T>
struct Matrix {
  const T* data;
  std::int64_t n_rows, n_columns, row_stride, column_stride;
  double scale;
};

template <class T>
__device__ T scaled(T x, double scale) {
  if constexpr (sizeof(T) == 8 && !Numbers<T>::kInteger) return x * scale;
  return x;
}

// Joins what the lanes of a warp hold in halves; lane 0 has the whole. Every lane must call it.
template <class Wide>
__device__ void join_warp(Part<Wide>& part) {
  static_assert(sizeof(Part<Wide>) % sizeof(std::int64_t) == 0);
  constexpr int kWords = sizeof(Part<Wide>) / sizeof(std::int64_t);
  union Words {
    __device__ Words() {}
    Part<Wide> part;
    long long words[kWords];
  };
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (int half = kChains / 2; half >= 1; half /= 2) {
    Words mine, theirs;
    mine.part = part;
#pragma unroll
    for (int i = 0; i < kWords; ++i) theirs.words[i] = __shfl_down_sync(0xffffffffu, mine.words[i], half);
    if (lane < half) join(part, theirs.part);
  }
}

// Joins parts[0..n) of the block in pairs of neighbours; every thread of the block must call it. parts[0] has the
// whole.
template <class Wide>
__device__ void join_block(Part<Wide>* parts, int n) {
  for (int apart = 1; apart < n; apart *= 2) {
    __syncthreads();  // the level before is written
    for (int i = static_cast<int>(threadIdx.x) * 2 * apart; i + apart < n; i += kThreads * 2 * apart) {
      join(parts[i], parts[i + apart]);
    }
  }
  __syncthreads();
}

// The chain of one lane: values at x[32 t], t < n. The next batch is on its way while one is added.
template <int kBatch, class T, bool kMoments>
__device__ void run_chain(Chain<T, kMoments>& chain, const T* x, std::int64_t step, int n, double scale) {
  T next[kBatch];
  const int full = n / kBatch;
  if (full > 0) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) next[i] = x[i * step];
  }
  for (int batch = 0; batch < full; ++batch) {
    T now[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) now[i] = scaled(next[i], scale);
    if (batch + 1 < full) {
      const T* from = x + (batch + 1) * kBatch * step;
#pragma unroll
      for (int i = 0; i < kBatch; ++i) next[i] = from[i * step];
    }
    chain.add(now);
  }
  for (int t = full * kBatch; t < n; ++t) chain.add_one(scaled(x[t * step], scale));
}

// Rows of a chain in a leaf of `rows` rows.
__device__ int chain_length(std::int64_t rows, int chain) {
  return static_cast<int>((rows - chain + kChains - 1) / kChains);  // 0 where rows <= chain: never negative here
}

// A block has a unit of eight leaves of one column, each warp one. blockIdx.x: column * n_units + unit.
template <class T, bool kMoments>
__global__ void __launch_bounds__(kThreads, 3)
    columns_kernel(const Matrix<T> matrix, std::int64_t n_units, Part<typename Numbers<T>::Wide>* out) {
  using Wide = typename Numbers<T>::Wide;
  __shared__ alignas(16) unsigned char memory[kWarps * sizeof(Part<Wide>)];
  Part<Wide>* leaves = reinterpret_cast<Part<Wide>*>(memory);
  const std::int64_t column = blockIdx.x / n_units, unit = blockIdx.x % n_units;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t row = (unit * kWarps + warp) * kLeafRows;
  const std::int64_t left = matrix.n_rows - row, rows = left < kLeafRows ? left : kLeafRows;
  Chain<T, kMoments> chain;
  const int length = rows > lane ? chain_length(rows, lane) : 0;
  if (length > 0) {
    const T* x = matrix.data + column * matrix.column_stride + row + lane;
    run_chain<kColumnBatch<T>>(chain, x, kChains, length, matrix.scale);
  }
  Part<Wide> part = chain.part(row, length);
  join_warp(part);
  if (lane == 0) leaves[warp] = part;
  const std::int64_t n_leaves = (matrix.n_rows - unit * kWarps * kLeafRows + kLeafRows - 1) / kLeafRows;
  join_block(leaves, static_cast<int>(n_leaves < kWarps ? n_leaves : kWarps));
  if (threadIdx.x == 0) out[blockIdx.x] = leaves[0];
}

template <class T, int kVector>
struct alignas(sizeof(T) * kVector) Vector {
  T values[kVector];
};

// The low `bits` bits of a number, back to front.
__device__ int reversed(int number, int bits) {
  return bits == 0 ? 0 : static_cast<int>(__brev(static_cast<unsigned>(number)) >> (32 - bits));
}
__device__ int log2_of(int power) {
  return 31 - __clz(power);
}

struct RowsShape {
  int column_threads, chain_groups, splits;
  std::int64_t n_leaves, n_tiles;
};

// A block has some columns of one leaf, or of every splits-th chain of it. A thread has kVector neighbouring columns
// and every (chain_groups * splits)-th chain; it takes them in the order in which they are joined in halves.
// blockIdx.x: (leaf * splits + split) * n_tiles + tile, so that blocks that run together read whole rows.
template <class T, bool kMoments, int kVector>
__global__ void __launch_bounds__(kThreads, 2)
    rows_kernel(const Matrix<T> matrix, const RowsShape shape, Part<typename Numbers<T>::Wide>* out) {
  using Wide = typename Numbers<T>::Wide;
  using Load = Vector<T, kVector>;
  constexpr int kBatch = kRowBatch<kVector>;
  __shared__ alignas(16) unsigned char memory[kThreads * sizeof(Part<Wide>)];
  Part<Wide>* shared = reinterpret_cast<Part<Wide>*>(memory);
  const std::int64_t tile = blockIdx.x % shape.n_tiles, task = blockIdx.x / shape.n_tiles;
  const std::int64_t leaf = task / shape.splits, row = leaf * kLeafRows;
  const int split = static_cast<int>(task % shape.splits);
  const int x = static_cast<int>(threadIdx.x) % shape.column_threads;
  const int group = static_cast<int>(threadIdx.x) / shape.column_threads;
  const std::int64_t column = (tile * shape.column_threads + x) * kVector;
  const bool works = group < shape.chain_groups && column < matrix.n_columns;
  const std::int64_t left = matrix.n_rows - row, rows = left < kLeafRows ? left : kLeafRows;
  const int apart = shape.chain_groups * shape.splits, n_chains = kChains / apart, bits = log2_of(n_chains);

  Part<Wide> stack[6][kVector];  // of 1, 2, 4, ... chains; the last is what is left
  for (int m = 0; works && m < n_chains; ++m) {
    const int chain_index = split + shape.splits * group + apart * reversed(m, bits);
    Chain<T, kMoments> chains[kVector];
    const T* from = matrix.data + (row + chain_index) * matrix.row_stride + column;
    const std::int64_t step = kChains * matrix.row_stride;
    const int length = rows > chain_index ? chain_length(rows, chain_index) : 0, full = length / kBatch;
    Load next[kBatch];
    const auto fetch = [&] {
#pragma unroll
      for (int i = 0; i < kBatch; ++i, from += step) next[i] = *reinterpret_cast<const Load*>(from);
    };
    if (full > 0) fetch();
    for (int left = full; left > 0; --left) {
      Load now[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) now[i] = next[i];
      if (left > 1) fetch();
#pragma unroll
      for (int v = 0; v < kVector; ++v) {
        T values[kBatch];
#pragma unroll
        for (int i = 0; i < kBatch; ++i) values[i] = scaled(now[i].values[v], matrix.scale);
        chains[v].add(values);
      }
    }
    for (int t = full * kBatch; t < length; ++t, from += step) {
      const Load one = *reinterpret_cast<const Load*>(from);
#pragma unroll
      for (int v = 0; v < kVector; ++v) chains[v].add_one(scaled(one.values[v], matrix.scale));
    }
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      Part<Wide> part = chains[v].part(row, length);
      int level = 0;
      for (; ((m >> level) & 1) != 0; ++level) {
        Part<Wide> before = stack[level][v];
        join(before, part);
        part = before;
      }
      stack[level][v] = part;
    }
  }
  const std::int64_t position = leaf * shape.splits + reversed(split, log2_of(shape.splits));
  const std::int64_t n_parts = shape.n_leaves * shape.splits;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    if (works) shared[threadIdx.x] = stack[bits][v];
    for (int half = shape.chain_groups / 2; half >= 1; half /= 2) {
      __syncthreads();  // the level before is written
      if (works && group < half) join(shared[threadIdx.x], shared[threadIdx.x + half * shape.column_threads]);
    }
    if (works && group == 0) out[(column + v) * n_parts + position] = shared[threadIdx.x];
    __syncthreads();  // all is read: the next columns may be written
  }
}

// Joins up to 256 neighbouring parts of a column. blockIdx.x: column * n_out + which.
template <class Wide>
__global__ void __launch_bounds__(kThreads)
    join_kernel(const Part<Wide>* in, std::int64_t n_in, std::int64_t n_out, Part<Wide>* out) {
  __shared__ alignas(16) unsigned char memory[kJoinedAtOnce * sizeof(Part<Wide>)];
  Part<Wide>* parts = reinterpret_cast<Part<Wide>*>(memory);
  const std::int64_t column = blockIdx.x / n_out, begin = blockIdx.x % n_out * kJoinedAtOnce;
  const std::int64_t left = n_in - begin;
  const int n = static_cast<int>(left < kJoinedAtOnce ? left : kJoinedAtOnce);
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) parts[i] = in[column * n_in + begin + i];
  join_block(parts, n);
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

// The first row of the leaf that `row` begins with that value, and the value as it stands there. The block's work.
template <class T, class Wide>
__device__ void locate(const Matrix<T>& matrix, std::int64_t column, std::int64_t& row, Wide& value) {
  __shared__ int found;
  __syncthreads();  // whoever read `found` before is done
  if (threadIdx.x == 0) found = static_cast<int>(kLeafRows);
  __syncthreads();
  const std::int64_t left = matrix.n_rows - row, rows = left < kLeafRows ? left : kLeafRows;
  const T* x = matrix.data + column * matrix.column_stride + row * matrix.row_stride;
  for (int i = static_cast<int>(threadIdx.x); i < rows; i += kThreads) {
    if (static_cast<Wide>(scaled(x[i * matrix.row_stride], matrix.scale)) == value) {
      atomicMin(&found, i);
      break;  // this thread's later rows lie behind
    }
  }
  __syncthreads();
  if (found < rows) {
    value = static_cast<Wide>(scaled(x[found * matrix.row_stride], matrix.scale));
    row += found;
  }
}

// A block a column.
template <class T>
__global__ void __launch_bounds__(kThreads)
    locate_kernel(const Matrix<T> matrix, Part<typename Numbers<T>::Wide>* parts) {
  Part<typename Numbers<T>::Wide> part = parts[blockIdx.x];
  if (part.count == 0) return;
  locate(matrix, blockIdx.x, part.min_row, part.min);
  locate(matrix, blockIdx.x, part.max_row, part.max);
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

unsigned grid(std::int64_t blocks) {
  if (blocks > INT32_MAX) throw Error(ErrorCode::unsupported, "too many columns for one launch on a GPU");
  return static_cast<unsigned>(blocks);
}

template <class T, bool kMoments>
void launch_values(const Matrix<T>& matrix, const PassShape& shape, Part<typename Numbers<T>::Wide>* out,
                   cudaStream_t stream) {
  if (!shape.by_rows) {
    columns_kernel<T, kMoments>
        <<<grid(matrix.n_columns * shape.n_parts), kThreads, 0, stream>>>(matrix, shape.n_parts, out);
    stope::cuda::check_launch("statistics of columns");
    return;
  }
  const std::int64_t n_leaves = shape.n_parts / shape.splits;
  const std::int64_t width = std::int64_t{shape.column_threads} * shape.vector;
  const RowsShape rows = {shape.column_threads, shape.chain_groups, shape.splits, n_leaves,
                          checked::ceil_div(matrix.n_columns, width)};
  const unsigned blocks = grid(rows.n_tiles * shape.n_parts);
  constexpr int kWidest = 16 / sizeof(T);
  if (shape.vector == kWidest) {
    rows_kernel<T, kMoments, kWidest><<<blocks, kThreads, 0, stream>>>(matrix, rows, out);
  } else {
    rows_kernel<T, kMoments, 1><<<blocks, kThreads, 0, stream>>>(matrix, rows, out);
  }
  stope::cuda::check_launch("statistics of rows");
}

template <class T>
void* launch(const cuda_abi::Values& values, const PassShape& shape, void* first, void* second, cudaStream_t stream) {
  using Wide = typename Numbers<T>::Wide;
  const Matrix<T> matrix = {static_cast<const T*>(values.data),
                            values.n_rows,
                            values.n_columns,
                            values.row_stride,
                            values.column_stride,
                            values.scale};
  auto* in = static_cast<Part<Wide>*>(first);
  auto* out = static_cast<Part<Wide>*>(second);
  if (values.moments != 0) {
    launch_values<T, true>(matrix, shape, in, stream);
  } else {
    launch_values<T, false>(matrix, shape, in, stream);
  }
  for (std::int64_t n = shape.n_parts; n > 1; std::swap(in, out)) {
    const std::int64_t n_out = checked::ceil_div(n, kJoinedAtOnce);
    join_kernel<Wide><<<grid(matrix.n_columns * n_out), kThreads, 0, stream>>>(in, n, n_out, out);
    stope::cuda::check_launch("joining statistics");
    n = n_out;
  }
  locate_kernel<T><<<grid(matrix.n_columns), kThreads, 0, stream>>>(matrix, in);
  stope::cuda::check_launch("finding first rows");
  return in;
}

}  // namespace

PassShape shape_of(const cuda_abi::Values& values, int multiprocessors) {
  const std::int64_t n_leaves = checked::ceil_div(values.n_rows, kLeafRows);
  PassShape shape;
  // Rows that lie one behind the other, of one column or of a column-major matrix.
  if (values.row_stride == 1) {
    shape.n_parts = checked::ceil_div(n_leaves, kWarps);
    return shape;
  }
  shape.by_rows = true;
  const bool is_wide = values.type == cuda_abi::Type::float64 || values.type == cuda_abi::Type::int64;
  const int widest = is_wide ? 2 : 4;
  const bool aligned = reinterpret_cast<std::uintptr_t>(values.data) % 16 == 0 && values.row_stride % widest == 0 &&
                       values.n_columns % widest == 0 && values.column_stride == 1;
  shape.vector = aligned ? widest : 1;
  // As many threads along a row as its columns keep busy; a power of two, so that the rest is one, too.
  const std::int64_t wanted = checked::ceil_div(values.n_columns, shape.vector);
  shape.column_threads = 8;
  while (shape.column_threads < wanted && shape.column_threads < kThreads) shape.column_threads *= 2;
  shape.chain_groups = kThreads / shape.column_threads;  // 1 ... 32
  // A leaf is shared where there are few blocks, and a row's piece is long enough for a memory's page.
  const std::int64_t tiles = checked::ceil_div(wanted, shape.column_threads);
  const std::int64_t row_bytes = values.n_columns * (is_wide ? 8 : 4);
  while (shape.splits * shape.chain_groups < kChains && shape.splits < 8 && row_bytes >= 512 &&
         n_leaves * tiles * shape.splits < std::int64_t{12} * multiprocessors) {
    shape.splits *= 2;
  }
  shape.n_parts = n_leaves * shape.splits;
  return shape;
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
