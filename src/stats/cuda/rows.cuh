// Statistics where the columns of a row lie one behind the other. A block of threads has a leaf of some neighbouring
// columns; a thread has some of its chains, for kVector columns at a time.
//
// Loads take 16 bytes wherever rows begin. The rows of a chain are 32 apart, so all of them lie at the same distance
// from a multiple of 16 bytes. A chain's columns are therefore shifted by some places among its threads. The first and
// last values of these may belong to other columns; what becomes of those is never read.
//
// Blocks are short and many, so that those of an SM do not end at the same time: while one joins its chains, the copies
// of another are under way.
#pragma once

#include "stats/cuda/values.cuh"

namespace stope::stats::cuda {

inline constexpr int kMostRowsThreads = 256;
inline constexpr int kRowBatches = 3;  // batches in a thread's ring

template <class T>
inline constexpr int kVector = 16 / static_cast<int>(sizeof(T));

template <class T>
struct alignas(16) Vector {
  T values[kVector<T>];
};

/// A thread's shared memory: its ring, and later its chains in packed form. Behind those of all threads lies one part
/// of every column.
template <class T>
inline constexpr int kRingBytes = kRowBatches * kBatch<Vector<T>> * static_cast<int>(sizeof(Vector<T>));
template <class T>
inline constexpr int kPackedBytes = kVector<T> * static_cast<int>(sizeof(PackedChain<T>));
template <class T>
inline constexpr int kThreadBytes = kRingBytes<T> > kPackedBytes<T> ? kRingBytes<T> : kPackedBytes<T>;

/// How rows are cut. A block takes `width` columns, with column_threads threads side by side. It goes through the
/// chains of the leaf in n_turns turns. A turn has every n_turns-th chain, which is the order in which chains are
/// joined.
struct RowsShape {
  std::int64_t n_leaves, n_tiles;
  int width, column_threads, n_turns;
};

/// A block's part of a leaf. Blocks are numbered leaf * n_tiles + tile: those that run together read whole rows.
template <class T>
struct Tile {
  std::int64_t leaf, first_column;
  int width;

  __device__ Tile(const Matrix<T>& matrix, const RowsShape& shape) : leaf(blockIdx.x / shape.n_tiles) {
    first_column = blockIdx.x % shape.n_tiles * shape.width;
    const std::int64_t left = matrix.n_columns - first_column;
    width = static_cast<int>(left < shape.width ? left : shape.width);
  }
  __device__ std::int64_t first_row(int chain) const { return leaf * kLeafRows + chain; }
  /// How many values lie between the start of the 16 bytes that hold the row's first value and that value.
  __device__ int shift(const Matrix<T>& matrix, int chain) const {
    const T* const begin = matrix.data + first_row(chain) * matrix.row_stride + first_column;
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(begin) % 16 / sizeof(T));
  }
};

/// A thread's chains in one turn.
template <class T>
struct ThreadRows {
  const T* from;       ///< the thread's place in the first row, at a multiple of 16 bytes
  int length, column;  ///< rows; the first value's column, counted from the tile's first: may be negative
  bool at_end;         ///< the matrix ends with these rows: nothing behind them may be read

  __device__ ThreadRows(const Matrix<T>& matrix, const RowsShape& shape, const Tile<T>& tile, int turn) {
    const int x = static_cast<int>(threadIdx.x) % shape.column_threads;
    const int chain = turn + shape.n_turns * (static_cast<int>(threadIdx.x) / shape.column_threads);
    const int shift = tile.shift(matrix, chain);
    column = x * kVector<T> - shift;
    from = matrix.data + tile.first_row(chain) * matrix.row_stride + tile.first_column + column;
    length = column < tile.width ? chain_length(rows_of_leaf(matrix.n_rows, tile.leaf), chain) : 0;
    at_end = length > 0 && tile.first_row(chain) + (length - 1) * kChains == matrix.n_rows - 1;
  }
};

/// Adds the rows to the thread's chains. A thread has places of its own in the ring, which no other thread reads, so
/// that no barrier is needed.
template <class T, bool kMoments>
__device__ __forceinline__ void add_chains(const Matrix<T>& matrix, const ThreadRows<T>& rows, int width, void* ring,
                                           Chain<T, kMoments> (&chains)[kVector<T>]) {
  constexpr int kLoads = kBatch<Vector<T>>;
  auto* const own = static_cast<Vector<T>*>(ring) + threadIdx.x;
  const int n_batches = (rows.length - (rows.at_end ? 1 : 0)) / kLoads, stride = static_cast<int>(blockDim.x);
  const std::int64_t step = kChains * matrix.row_stride;
  const T* from = rows.from;
  int fetched = 0, place = 0;
  const auto fetch = [&](int to) {
    if (fetched < n_batches) {
#pragma unroll
      for (int i = 0; i < kLoads; ++i, from += step) stope::cuda::copy<16>(own + (to * kLoads + i) * stride, from);
    }
    stope::cuda::end_copies();  // even where nothing is left: the groups of copies are counted
    ++fetched;
  };
#pragma unroll
  for (int batch = 0; batch < kRowBatches; ++batch) fetch(batch);
  for (int batch = 0; batch < n_batches; ++batch) {
    stope::cuda::wait_for_copies<kRowBatches - 1>();
    Vector<T> loads[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) loads[i] = own[(place * kLoads + i) * stride];
    fetch(place);
    place = place + 1 == kRowBatches ? 0 : place + 1;
#pragma unroll
    for (int v = 0; v < kVector<T>; ++v) {
      T values[kLoads];
#pragma unroll
      for (int i = 0; i < kLoads; ++i) values[i] = scaled(loads[i].values[v], matrix.scale);
      chains[v].add(values);
    }
  }
  for (int done = n_batches * kLoads; done < rows.length; ++done, from += step) {
#pragma unroll
    for (int v = 0; v < kVector<T>; ++v) {
      const bool is_there = rows.column + v >= 0 && rows.column + v < width;
      if (is_there) chains[v].add_one(scaled(from[v], matrix.scale));
    }
  }
}

/// Joins in halves what the lanes of a column have: lane j of n with lane j + n / 2, and so on. Lane 0 of them gets the
/// whole. Every lane of the warp must call it.
template <bool kMoments, class Wide>
__device__ __forceinline__ void join_lanes(Part<Wide>& part, int j, int n) {
  constexpr int kWords = sizeof(Part<Wide>) / sizeof(long long);
  static_assert(sizeof(Part<Wide>) % sizeof(long long) == 0);
  union Words {
    __device__ Words() {}
    Part<Wide> part;
    long long words[kWords];
  };
  for (int half = n / 2; half >= 1; half /= 2) {
    Words mine, theirs;
    mine.part = part;
#pragma unroll
    for (int i = 0; i < kWords; ++i) theirs.words[i] = __shfl_down_sync(0xffffffffU, mine.words[i], half);
    if (j < half) join_hinted<kMoments>(part, theirs.part);
  }
}

/// Joins the chains of a turn. A thread joins the kVector chains of its column that come first; then the lanes of a
/// column join their results. `chains`: [value of the vector][thread]; `first`: the first turn's result for each
/// column. It is not inlined, so that its registers are not taken from the loop over values.
template <class T, bool kMoments>
__device__ __noinline__ void join_turn(const Matrix<T>& matrix, const RowsShape& shape, const Tile<T>& tile, int turn,
                                       const PackedChain<T>* chains, Part<typename Numbers<T>::Wide>* first,
                                       Part<typename Numbers<T>::Wide>* out) {
  const int n_lanes = kChains / shape.n_turns / kVector<T>;  // lanes of a column
  const int j = static_cast<int>(threadIdx.x) % n_lanes, column = static_cast<int>(threadIdx.x) / n_lanes;
  const std::int64_t n_rows = rows_of_leaf(matrix.n_rows, tile.leaf);
  Part<typename Numbers<T>::Wide> parts[kVector<T>];
#pragma unroll
  for (int i = 0; i < kVector<T>; ++i) {
    const int group = j + i * n_lanes, chain = turn + shape.n_turns * group;
    const int at = (column < tile.width ? column : 0) + tile.shift(matrix, chain);
    const int thread = group * shape.column_threads + at / kVector<T>;
    const Chain<T, kMoments> found(chains[at % kVector<T> * static_cast<int>(blockDim.x) + thread]);
    parts[i] = found.part(tile.first_row(chain), chain_length(n_rows, chain));
  }
#pragma unroll
  for (int half = kVector<T> / 2; half >= 1; half /= 2) {
#pragma unroll
    for (int i = 0; i < half; ++i) join_hinted<kMoments>(parts[i], parts[i + half]);
  }
  join_lanes<kMoments>(parts[0], j, n_lanes);
  if (j != 0 || column >= tile.width) return;
  if (turn + 1 < shape.n_turns) {
    first[column] = parts[0];
    return;
  }
  auto& to = out[(tile.first_column + column) * shape.n_leaves + tile.leaf];
  if (turn == 0) {
    to = parts[0];
  } else {
    join_hinted<kMoments>(first[column], parts[0]);
    to = first[column];
  }
}

/// Writes out[column * n_leaves + leaf].
template <class T, bool kMoments>
__global__ void __launch_bounds__(kMostRowsThreads, 2)
    rows_kernel(const __grid_constant__ Matrix<T> matrix, const __grid_constant__ RowsShape shape,
                Part<typename Numbers<T>::Wide>* out) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const packed = reinterpret_cast<PackedChain<T>*>(memory);
  const Tile<T> tile(matrix, shape);
  auto* const first = reinterpret_cast<Part<typename Numbers<T>::Wide>*>(memory + blockDim.x * kThreadBytes<T>);
  for (int turn = 0; turn < shape.n_turns; ++turn) {
    Chain<T, kMoments> chains[kVector<T>];
    const ThreadRows<T> rows(matrix, shape, tile, turn);
    add_chains<T, kMoments>(matrix, rows, tile.width, memory, chains);
    __syncthreads();  // the rings are empty
#pragma unroll
    for (int v = 0; v < kVector<T>; ++v) {
      packed[v * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x)] = chains[v].packed();
    }
    __syncthreads();
    join_turn<T, kMoments>(matrix, shape, tile, turn, packed, first, out);
    __syncthreads();  // the chains have been read
  }
}

}  // namespace stope::stats::cuda
