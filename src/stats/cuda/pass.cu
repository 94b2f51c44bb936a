#include "stats/cuda/pass.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "device/cuda/async_copy.cuh"
#include "device/cuda/check.hpp"
#include "stats/cuda/chain.cuh"

namespace stope::stats::cuda {
namespace {

constexpr int kWarp = 32, kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kJoinedAtOnce = 256;
constexpr int kMostColumnThreads = 16;
static_assert(kChains == kWarp);

// Values come through a ring in shared memory: batches are on their way while the one before them is added. By all
// threads that an SM then holds, 96 KiB and more, which hide the memory's latency at its full rate.
constexpr int kBatches = 3;
template <class Load>
constexpr int kBatch = sizeof(Load) <= 8 ? 64 / sizeof(Load) : 4;  // of one column, or of several beside each other
template <class Load>
constexpr int kRingBytes = kThreads * kBatches * kBatch<Load> * static_cast<int>(sizeof(Load));

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

// Where a leaf has its extremes is known to the chain, so that only the chain's rows are looked through in the end: to
// the leaf's first row, a multiple of kLeafRows, the number of the chain is added, and kSeveral where several have it.
constexpr std::int64_t kSeveral = kChains;
static_assert(kLeafRows % (2 * kChains) == 0);

__device__ std::int64_t leaf_of(std::int64_t hint) {
  return hint & -kLeafRows;
}

template <class Wide>
__device__ void join_hinted(Part<Wide>& a, const Part<Wide>& b) {
  const bool same_low = a.min == b.min && leaf_of(a.min_row) == leaf_of(b.min_row);
  const bool same_high = a.max == b.max && leaf_of(a.max_row) == leaf_of(b.max_row);
  const bool both = a.count > 0 && b.count > 0;
  join(a, b);
  if (both && same_low) a.min_row |= kSeveral;
  if (both && same_high) a.max_row |= kSeveral;
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
    if (lane < half) join_hinted(part, theirs.part);
  }
}

// Joins parts[0..n) of the block in pairs of neighbours; every thread of the block must call it. parts[0] has the
// whole.
template <class Wide>
__device__ void join_block(Part<Wide>* parts, int n) {
  for (int apart = 1; apart < n; apart *= 2) {
    __syncthreads();  // the level before is written
    for (int i = static_cast<int>(threadIdx.x) * 2 * apart; i + apart < n; i += kThreads * 2 * apart) {
      join_hinted(parts[i], parts[i + apart]);
    }
  }
  __syncthreads();
}

// Calls add(batch) with kBatch<Load> loads at a time of those at from[t * step], t < n / kBatch * kBatch: all whole
// batches. A thread has places of its own in the ring, which no other looks into, so that no barrier is needed.
template <class Load, class T, class Add>
__device__ __forceinline__ void for_batches(void* ring, const T* from, std::int64_t step, int n, const Add& add) {
  constexpr int kLoads = kBatch<Load>;
  Load* const own = static_cast<Load*>(ring) + threadIdx.x;
  const int full = n / kLoads;
  int fetched = 0, place = 0;
  const auto fetch = [&](int to) {
    if (fetched < full) {
#pragma unroll
      for (int i = 0; i < kLoads; ++i, from += step) {
        stope::cuda::copy<sizeof(Load)>(own + (to * kLoads + i) * kThreads, from);
      }
    }
    stope::cuda::end_copies();  // also where there is nothing left: the groups are counted
    ++fetched;
  };
#pragma unroll
  for (int batch = 0; batch < kBatches; ++batch) fetch(batch);
  for (int batch = 0; batch < full; ++batch) {
    stope::cuda::wait_for_copies<kBatches - 1>();
    Load now[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) now[i] = own[(place * kLoads + i) * kThreads];
    fetch(place);
    place = place + 1 == kBatches ? 0 : place + 1;
    add(now);
  }
}

// The same of n consecutive values at `from`, aligned to 16 bytes, value i for lane i % 32: a warp's whole batches of
// whole batches of its lanes, in pieces of 16 bytes. `ring` is the warp's.
template <class T, class Add>
__device__ __forceinline__ void for_warp_batches(void* ring, const T* from, int n, const Add& add) {
  constexpr int kValues = kBatch<T> * kWarp, kInPiece = 16 / static_cast<int>(sizeof(T)), kPieces = kValues / kInPiece;
  static_assert(kPieces % kWarp == 0);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, full = n / kValues;
  T* const values = static_cast<T*>(ring);
  int fetched = 0, place = 0;
  const auto fetch = [&](int to) {
    if (fetched < full) {
#pragma unroll
      for (int i = 0; i < kPieces; i += kWarp) {
        const int at = (i + lane) * kInPiece;
        stope::cuda::copy<16>(values + to * kValues + at, from + fetched * kValues + at);
      }
    }
    stope::cuda::end_copies();
    ++fetched;
  };
#pragma unroll
  for (int batch = 0; batch < kBatches; ++batch) fetch(batch);
  for (int batch = 0; batch < full; ++batch) {
    stope::cuda::wait_for_copies<kBatches - 1>();
    __syncwarp();  // and those of the other lanes
    T now[kBatch<T>];
#pragma unroll
    for (int i = 0; i < kBatch<T>; ++i) now[i] = values[place * kValues + i * kWarp + lane];
    __syncwarp();  // all lanes have theirs
    fetch(place);
    place = place + 1 == kBatches ? 0 : place + 1;
    add(now);
  }
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
  __shared__ alignas(16) unsigned char memory[kRingBytes<T>];
  Part<Wide>* leaves = reinterpret_cast<Part<Wide>*>(memory);  // once the ring is empty
  const std::int64_t column = blockIdx.x / n_units, unit = blockIdx.x % n_units;
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t row = (unit * kWarps + warp) * kLeafRows;
  const std::int64_t left = matrix.n_rows - row, rows = left < kLeafRows ? left : kLeafRows;
  Chain<T, kMoments> chain;
  const int length = rows > lane ? chain_length(rows, lane) : 0;
  const T* const leaf = matrix.data + column * matrix.column_stride + row;
  const T* const x = leaf + lane;
  const auto add = [&](T(&values)[kBatch<T>]) {
#pragma unroll
    for (T& value : values) value = scaled(value, matrix.scale);
    chain.add(values);
  };
  int done = length / kBatch<T> * kBatch<T>;
  if (reinterpret_cast<std::uintptr_t>(leaf) % 16 == 0) {
    const int n = rows > 0 ? static_cast<int>(rows) : 0;
    for_warp_batches<T>(memory + warp * (kRingBytes<T> / kWarps), leaf, n, add);
    done = n / (kBatch<T> * kWarp) * kBatch<T>;
  } else {
    for_batches<T>(memory, x, kChains, length, add);
  }
  for (int t = done; t < length; ++t) chain.add_one(scaled(x[t * kChains], matrix.scale));
  Part<Wide> part = chain.part(row + lane, length);
  join_warp(part);
  __syncthreads();  // nobody looks into the ring any more
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

// A block has some columns of one leaf, or of every splits-th chain of it: a thread has kVector neighbouring columns of
// one chain. blockIdx.x: (leaf * splits + split) * n_tiles + tile, so that blocks that run together read whole rows.
template <class T, bool kMoments, int kVector>
__global__ void __launch_bounds__(kThreads, 2)
    rows_kernel(const Matrix<T> matrix, const RowsShape shape, Part<typename Numbers<T>::Wide>* out) {
  using Wide = typename Numbers<T>::Wide;
  using Load = Vector<T, kVector>;
  constexpr int kPartsBytes = kThreads * static_cast<int>(sizeof(Part<Wide>));
  __shared__ alignas(16) unsigned char memory[kRingBytes<Load> > kPartsBytes ? kRingBytes<Load> : kPartsBytes];
  Part<Wide>* shared = reinterpret_cast<Part<Wide>*>(memory);  // once the ring is empty
  const std::int64_t tile = blockIdx.x % shape.n_tiles, task = blockIdx.x / shape.n_tiles;
  const std::int64_t leaf = task / shape.splits, row = leaf * kLeafRows;
  const int split = static_cast<int>(task % shape.splits);
  const int x = static_cast<int>(threadIdx.x) % shape.column_threads;
  const int group = static_cast<int>(threadIdx.x) / shape.column_threads;
  const std::int64_t column = (tile * shape.column_threads + x) * kVector;
  const int chain_index = split + shape.splits * group;
  const bool works = column < matrix.n_columns;
  const std::int64_t left = matrix.n_rows - row, rows = left < kLeafRows ? left : kLeafRows;
  const int length = works && rows > chain_index ? chain_length(rows, chain_index) : 0;

  Chain<T, kMoments> chains[kVector];
  const T* const from = matrix.data + (row + chain_index) * matrix.row_stride + column;
  const std::int64_t step = kChains * matrix.row_stride;
  for_batches<Load>(memory, from, step, length, [&](const Load(&batch)[kBatch<Load>]) {
#pragma unroll
    for (int v = 0; v < kVector; ++v) {
      T values[kBatch<Load>];
#pragma unroll
      for (int i = 0; i < kBatch<Load>; ++i) values[i] = scaled(batch[i].values[v], matrix.scale);
      chains[v].add(values);
    }
  });
  for (int t = length / kBatch<Load> * kBatch<Load>; t < length; ++t) {
    const Load one = *reinterpret_cast<const Load*>(from + t * step);
#pragma unroll
    for (int v = 0; v < kVector; ++v) chains[v].add_one(scaled(one.values[v], matrix.scale));
  }
  const std::int64_t position = leaf * shape.splits + reversed(split, log2_of(shape.splits));
  const std::int64_t n_parts = shape.n_leaves * shape.splits;
#pragma unroll
  for (int v = 0; v < kVector; ++v) {
    __syncthreads();  // the ring, or the column before, is read
    if (works) shared[threadIdx.x] = chains[v].part(row + chain_index, length);
    for (int half = shape.chain_groups / 2; half >= 1; half /= 2) {
      __syncthreads();  // the level before is written
      if (works && group < half) join_hinted(shared[threadIdx.x], shared[threadIdx.x + half * shape.column_threads]);
    }
    if (works && group == 0) out[(column + v) * n_parts + position] = shared[threadIdx.x];
  }
}

// The first row with that value of those that `hint` leaves, and the value as it stands there. The block's work.
template <class T, class Wide>
__device__ void locate(const Matrix<T>& matrix, std::int64_t column, std::int64_t& hint, Wide& value) {
  __shared__ int found;
  const std::int64_t leaf = leaf_of(hint);
  const T* const x = matrix.data + column * matrix.column_stride + leaf * matrix.row_stride;
  const std::int64_t left = matrix.n_rows - leaf;
  const int rows = static_cast<int>(left < kLeafRows ? left : kLeafRows);
  const auto at = [&](int row) { return static_cast<Wide>(scaled(x[row * matrix.row_stride], matrix.scale)); };
  __syncthreads();  // whoever read `found` before is done
  if (threadIdx.x == 0) found = rows;
  __syncthreads();
  if ((hint & kSeveral) == 0) {  // a row a thread
    const int row = static_cast<int>(hint % kChains) + static_cast<int>(threadIdx.x) * kChains;
    static_assert(kChainRows <= kThreads);
    if (row < rows && at(row) == value) atomicMin(&found, row);
    __syncthreads();
  } else {
    constexpr int kAtOnce = 4;
    for (int first = 0; first < rows; first += kAtOnce * kThreads) {
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const int row = first + i * kThreads + static_cast<int>(threadIdx.x);
        if (row < rows && at(row) == value) atomicMin(&found, row);
      }
      if (__syncthreads_or(found < rows)) break;
    }
  }
  if (found < rows) value = at(found);
  hint = leaf + (found < rows ? found : 0);
}

// Joins up to 256 neighbouring parts of a column; where these are all, finds the rows of its extremes. blockIdx.x:
// column
// * n_out + which.
template <class T>
__global__ void __launch_bounds__(kThreads)
    join_kernel(const Matrix<T> matrix, const Part<typename Numbers<T>::Wide>* in, std::int64_t n_in,
                std::int64_t n_out, Part<typename Numbers<T>::Wide>* out) {
  using Wide = typename Numbers<T>::Wide;
  __shared__ alignas(16) unsigned char memory[kJoinedAtOnce * sizeof(Part<Wide>)];
  Part<Wide>* parts = reinterpret_cast<Part<Wide>*>(memory);
  const std::int64_t column = blockIdx.x / n_out, begin = blockIdx.x % n_out * kJoinedAtOnce;
  const std::int64_t left = n_in - begin;
  const int n = static_cast<int>(left < kJoinedAtOnce ? left : kJoinedAtOnce);
  for (int i = static_cast<int>(threadIdx.x); i < n; i += kThreads) parts[i] = in[column * n_in + begin + i];
  join_block(parts, n);
  Part<Wide> part = parts[0];
  if (n_out == 1) {
    if (part.count > 0) {
      locate(matrix, column, part.min_row, part.min);
      locate(matrix, column, part.max_row, part.max);
    } else {
      part.min_row = part.max_row = 0;
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part;
}

unsigned grid(std::int64_t blocks) {
  if (blocks > INT32_MAX) throw Error(ErrorCode::unsupported, "too many columns for one launch on a GPU");
  return static_cast<unsigned>(blocks);
}

// As many rings as fit, rather than a large cache.
template <class Kernel>
void prefer_rings(Kernel* kernel) {
  stope::cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                          static_cast<int>(cudaSharedmemCarveoutMaxShared)),
                     "preferring shared memory");
}

template <class T, bool kMoments>
void launch_values(const Matrix<T>& matrix, const PassShape& shape, Part<typename Numbers<T>::Wide>* out,
                   cudaStream_t stream) {
  if (!shape.by_rows) {
    auto* const kernel = columns_kernel<T, kMoments>;
    prefer_rings(kernel);
    kernel<<<grid(matrix.n_columns * shape.n_parts), kThreads, 0, stream>>>(matrix, shape.n_parts, out);
    stope::cuda::check_launch("statistics of columns");
    return;
  }
  const std::int64_t width = std::int64_t{shape.column_threads} * shape.vector;
  const RowsShape rows = {shape.column_threads, shape.chain_groups, shape.splits, shape.n_parts / shape.splits,
                          checked::ceil_div(matrix.n_columns, width)};
  constexpr int kWidest = 16 / sizeof(T);
  auto* const kernel = shape.vector == kWidest ? rows_kernel<T, kMoments, kWidest> : rows_kernel<T, kMoments, 1>;
  prefer_rings(kernel);
  kernel<<<grid(rows.n_tiles * shape.n_parts), kThreads, 0, stream>>>(matrix, rows, out);
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
  for (std::int64_t n = shape.n_parts, n_out = 0; n_out != 1; n = n_out, std::swap(in, out)) {
    n_out = checked::ceil_div(n, kJoinedAtOnce);
    join_kernel<T><<<grid(matrix.n_columns * n_out), kThreads, 0, stream>>>(matrix, in, n, n_out, out);
    stope::cuda::check_launch("joining statistics");
  }
  return in;
}

}  // namespace

PassShape shape_of(const cuda_abi::Values& values) {
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
  // As many threads along a row as its columns keep busy, a power of two, so that the rest is one, too: but no more
  // than read pieces that suit a memory, because what they leave is written for every split.
  const std::int64_t wanted = checked::ceil_div(values.n_columns, shape.vector);
  shape.column_threads = 8;
  while (shape.column_threads < wanted && shape.column_threads < kMostColumnThreads) shape.column_threads *= 2;
  shape.chain_groups = kThreads / shape.column_threads;
  shape.splits = kChains / shape.chain_groups;
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
