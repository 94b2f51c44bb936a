// Statistics where the rows of a column lie one behind the other: each warp takes a leaf.
//
// A block of threads goes through units of eight leaves of one column. Eight warps add; a ninth joins what they found
// in the unit before. No warp that adds ever waits for a join. A join takes as long as an eighth of the copies of a
// leaf, and copies that are not under way during it would lower the memory rate. For the same reason copies go on from
// leaf to leaf without a break.
#pragma once

#include "device/cuda/arrivals.cuh"
#include "device/cuda/launch.cuh"
#include "stats/cuda/values.cuh"

namespace stope::stats::cuda {

inline constexpr int kAdders = 8, kColumnsThreads = (kAdders + 1) * kWarp;
// Batches in a warp's ring; the second constant is for GPUs with little shared memory.
inline constexpr int kColumnBatches = 4, kFewColumnBatches = 2;

template <class T, int kBatches>
struct ColumnsShared {
  using Wide = typename Numbers<T>::Wide;
  unsigned char ring[kAdders][kWarp * kBatches * kBatch<T> * sizeof(T)];
  Part<Wide> parts[kAdders * kChains];  ///< of the unit's chains
  std::uint64_t added, joined;          ///< barriers that count arrivals
};

/// Tasks are numbered column * n_units + unit. A block takes every gridDim.x-th task: `column_step` columns and
/// `unit_step` units further.
struct ColumnsTasks {
  std::int64_t n_columns, n_units, column_step, unit_step;
};

/// The task that a block is at.
struct UnitOfColumn {
  std::int64_t column, unit;

  __device__ explicit UnitOfColumn(const ColumnsTasks& tasks)
      : column(blockIdx.x / tasks.n_units), unit(blockIdx.x % tasks.n_units) {}
  __device__ bool is_there(const ColumnsTasks& tasks) const { return column < tasks.n_columns; }
  __device__ __forceinline__ void next(const ColumnsTasks& tasks) {
    column += tasks.column_step;
    unit += tasks.unit_step;
    if (unit < tasks.n_units) return;
    unit -= tasks.n_units;
    ++column;
  }
};

/// A leaf of a column. It has no rows where the column ends before it.
template <class T>
struct Leaf {
  const T* values;
  std::int64_t row;
  int n;

  __device__ Leaf(const Matrix<T>& matrix, const UnitOfColumn& unit, int warp) {
    const std::int64_t leaf = unit.unit * kAdders + warp;
    row = leaf * kLeafRows;
    n = static_cast<int>(rows_of_leaf(matrix.n_rows, leaf));
    values = matrix.data + unit.column * matrix.column_stride + row;
  }
};

/// Copies the whole batches of one leaf after another. Lane i % 32 gets value i of a batch. Aligned leaves are copied
/// in pieces of 16 bytes, others value by value.
template <class T, int kBatches>
class LeafCopies {
 public:
  static constexpr int kValues = kBatch<T> * kWarp;

  __device__ LeafCopies(const Matrix<T>& matrix, const ColumnsTasks& tasks, int warp, void* ring)
      : matrix_(matrix), tasks_(tasks), ring_(static_cast<T*>(ring)), unit_(tasks), leaf_(matrix, unit_, warp) {
#pragma unroll
    for (int place = 0; place < kBatches; ++place) fetch(place);
  }

  /// Gives every lane its values of the next batch.
  __device__ __forceinline__ void next(T (&values)[kBatch<T>]) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    stope::cuda::wait_for_copies<kBatches - 1>();
    __syncwarp();  // the other lanes' copies are complete, too
#pragma unroll
    for (int i = 0; i < kBatch<T>; ++i) values[i] = ring_[place_ * kValues + i * kWarp + lane];
    __syncwarp();  // all lanes have read their values
    fetch(place_);
    place_ = place_ + 1 == kBatches ? 0 : place_ + 1;
  }

 private:
  __device__ __forceinline__ void fetch(int place) {
    while (fetched_ + kValues > leaf_.n && unit_.is_there(tasks_)) {
      unit_.next(tasks_);
      fetched_ = 0;
      if (unit_.is_there(tasks_)) leaf_ = Leaf<T>(matrix_, unit_, static_cast<int>(threadIdx.x) / kWarp);
    }
    if (unit_.is_there(tasks_)) {
      copy(leaf_.values + fetched_, ring_ + place * kValues);
      fetched_ += kValues;
    }
    stope::cuda::end_copies();  // even where nothing is left: the groups of copies are counted
  }
  static __device__ __forceinline__ void copy(const T* from, T* to) {
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    constexpr int kInPiece = 16 / static_cast<int>(sizeof(T));
    static_assert(kValues / kInPiece % kWarp == 0);
    if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
#pragma unroll
      for (int i = lane * kInPiece; i < kValues; i += kWarp * kInPiece) stope::cuda::copy<16>(to + i, from + i);
    } else {
#pragma unroll
      for (int i = lane; i < kValues; i += kWarp) stope::cuda::copy<sizeof(T)>(to + i, from + i);
    }
  }

  const Matrix<T>& matrix_;
  const ColumnsTasks& tasks_;
  T* ring_;
  UnitOfColumn unit_;
  Leaf<T> leaf_;
  int fetched_ = 0, place_ = 0;
};

/// The part of a warp that adds.
template <class T, bool kMoments, int kBatches>
__device__ __forceinline__ void add_leaves(const Matrix<T>& matrix, const ColumnsTasks& tasks, int warp,
                                           ColumnsShared<T, kBatches>& shared) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  LeafCopies<T, kBatches> copies(matrix, tasks, warp, shared.ring[warp]);
  int turn = 0;
  for (UnitOfColumn unit(tasks); unit.is_there(tasks); unit.next(tasks), ++turn) {
    const Leaf<T> leaf(matrix, unit, warp);
    Chain<T, kMoments> chain;
    int done = 0;
    for (; done + LeafCopies<T, kBatches>::kValues <= leaf.n; done += LeafCopies<T, kBatches>::kValues) {
      T values[kBatch<T>];
      copies.next(values);
#pragma unroll
      for (T& value : values) value = scaled(value, matrix.scale);
      chain.add(values);
    }
    for (int i = done + lane; i < leaf.n; i += kWarp) chain.add_one(scaled(leaf.values[i], matrix.scale));
    if (turn > 0) stope::cuda::barrier_wait(&shared.joined, (turn - 1) % 2);
    shared.parts[warp * kChains + lane] = chain.part(leaf.row + lane, chain_length(leaf.n, lane));
    stope::cuda::barrier_arrive(&shared.added);
  }
}

/// The part of the warp that joins: chains of a leaf in halves, then leaves in pairs of neighbours.
template <class T, bool kMoments, int kBatches>
__device__ __forceinline__ void join_units(const ColumnsTasks& tasks, ColumnsShared<T, kBatches>& shared,
                                           Part<typename Numbers<T>::Wide>* out) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  auto* const parts = shared.parts;
  int turn = 0;
  for (UnitOfColumn unit(tasks); unit.is_there(tasks); unit.next(tasks), ++turn) {
    stope::cuda::barrier_wait(&shared.added, turn % 2);
    for (int half = kChains / 2; half >= 1; half /= 2) {
      for (int i = lane; i < kAdders * half; i += kWarp) {
        auto& part = parts[i / half * kChains + i % half];
        join_hinted<kMoments>(part, (&part)[half]);
      }
      __syncwarp();
    }
    for (int apart = 1; apart < kAdders; apart *= 2) {
      if (const int i = lane * 2 * apart; i < kAdders)
        join_hinted<kMoments>(parts[i * kChains], parts[(i + apart) * kChains]);
      __syncwarp();
    }
    if (lane == 0) out[unit.column * tasks.n_units + unit.unit] = parts[0];
    stope::cuda::barrier_arrive(&shared.joined);
  }
}

/// Writes out[column * n_units + unit].
template <class T, bool kMoments, int kBatches>
__global__ void __launch_bounds__(kColumnsThreads, 2)
    columns_kernel(const __grid_constant__ Matrix<T> matrix, const __grid_constant__ ColumnsTasks tasks,
                   Part<typename Numbers<T>::Wide>* out) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& shared = *reinterpret_cast<ColumnsShared<T, kBatches>*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  if (threadIdx.x == 0) {
    stope::cuda::barrier_init(&shared.added, kAdders * kWarp);
    stope::cuda::barrier_init(&shared.joined, kWarp);
  }
  __syncthreads();
  if (warp < kAdders) {
    add_leaves<T, kMoments>(matrix, tasks, warp, shared);
  } else {
    join_units<T, kMoments>(tasks, shared, out);
  }
}

}  // namespace stope::stats::cuda
