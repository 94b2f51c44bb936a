// What a warp does with a row's leaf of 512 columns (gram/shape.hpp). In each of four rounds, lane l has the columns 4
// l ... 4 l + 3. Elements come through a ring in shared memory that only this warp uses, so that copies need no
// barrier.
#pragma once

#include <cstdint>

#include "device/cuda/async_copy.cuh"
#include "device/cuda/launch.cuh"
#include "gram/shape.hpp"

namespace stope::gram::cuda {

inline constexpr int kRounds = static_cast<int>(kLeafRounds);
inline constexpr int kOwn = 4 * kRounds;  ///< columns of a lane

/// Copies 16 bytes to shared memory, past the L1 cache. Without is_there it writes zeros and does not look at `from`.
/// Before sm_80 the bytes are there when it returns.
__device__ __forceinline__ void copy_or_zero(void* to, const void* from, bool is_there) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile(
      "{\n\t.reg .pred ignore;\n\tsetp.eq.u32 ignore, %2, 0;\n\t"
      "cp.async.cg.shared.global [%0], [%1], 16, ignore;\n\t}" ::"r"(address),
      "l"(from), "r"(static_cast<std::uint32_t>(is_there))
      : "memory");
#else
  *static_cast<uint4*>(to) = is_there ? *static_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
#endif
}
using stope::cuda::end_copies;
using stope::cuda::let_next_kernel_begin;
using stope::cuda::wait_for_kernel_before;

/// A lane's part of a leaf.
struct LaneColumns {
  std::int64_t first;  ///< the lane's column of round 0
  int n;               ///< columns of the leaf; none where there is no leaf

  /// The columns of the leaf that begins there. If there is none, vectors are read at the first leaf.
  static __device__ LaneColumns of(std::int64_t leaf, int lane, std::int64_t n_columns) {
    const std::int64_t left = n_columns - leaf;
    if (left <= 0) return {4 * lane, 0};
    return {leaf + 4 * lane, static_cast<int>(left < kLeafColumns ? left : kLeafColumns)};
  }
  __device__ std::int64_t column(int round) const { return first + round * kSlots; }
};

template <class T>
struct Lane {
  static constexpr int kPieces = static_cast<int>(sizeof(T)) / 4;  // pieces of 16 bytes in four columns
  static constexpr int kInPiece = 4 / kPieces;                     // columns of a piece
  static constexpr int kLeafBytes = static_cast<int>(kLeafColumns * sizeof(T));

  /// Where a piece of a lane's columns lies in a stage. The two pieces of doubles are neighbours, as in memory: else a
  /// copy would ask the L2 cache for their sector twice. They change places in every other four lanes, so that lanes
  /// that read at the same time do not meet in a bank.
  static __device__ __forceinline__ int place(int round, int piece, int lane) {
    return ((round * 32 + lane) * kPieces + (piece ^ (lane / 4 % kPieces))) * 16;
  }
  /// Where a column of the leaf lies in a stage.
  static __device__ __forceinline__ int offset(int column) {
    const int round = column / static_cast<int>(kSlots), in_round = column % static_cast<int>(kSlots);
    return place(round, in_round % 4 / kInPiece, in_round / 4) + in_round % kInPiece * static_cast<int>(sizeof(T));
  }

  /// Queues the copies of a leaf of a row. `stage` is the warp's; `row` is the row's first element. Rows are whole
  /// pieces: what a piece has behind the last column is zero in memory. The lanes of a copy take neighbouring pieces,
  /// so that every sector of memory is asked for once. So a lane copies doubles that another lane reads: all lanes
  /// must have read the stage before, and wait_for_leaf() follows.
  static __device__ __forceinline__ void fetch(char* stage, const T* row, const LaneColumns& at, int lane) {
    if constexpr (kPieces > 1) __syncwarp();
    const T* const from = row + at.first - (4 - kInPiece) * lane;
    const int left = at.n - kInPiece * lane;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
#pragma unroll
      for (int copy = 0; copy < kPieces; ++copy) {
        const int column = round * static_cast<int>(kSlots) + copy * 32 * kInPiece, piece = copy * 32 + lane;
        copy_or_zero(stage + place(round, piece % kPieces, piece / kPieces), from + column, column < left);
      }
    }
  }

  /// Reads the lane's four elements of a round, as doubles.
  static __device__ __forceinline__ void read(const char* stage, int round, int lane, double (&a)[4]) {
    if constexpr (kPieces == 1) {
      const float4 v = *reinterpret_cast<const float4*>(stage + place(round, 0, lane));
      a[0] = static_cast<double>(v.x);
      a[1] = static_cast<double>(v.y);
      a[2] = static_cast<double>(v.z);
      a[3] = static_cast<double>(v.w);
    } else {
      const double2 low = *reinterpret_cast<const double2*>(stage + place(round, 0, lane));
      const double2 high = *reinterpret_cast<const double2*>(stage + place(round, 1, lane));
      a[0] = low.x;
      a[1] = low.y;
      a[2] = high.x;
      a[3] = high.y;
    }
  }

  /// Like read(), less the columns' shift, which has room for whole leaves.
  template <bool kShifted>
  static __device__ __forceinline__ void read(const char* stage, int round, int lane, const double* shift,
                                              const LaneColumns& at, double (&a)[4]) {
    read(stage, round, lane, a);
    if constexpr (kShifted) {
      const double2 low = __ldg(reinterpret_cast<const double2*>(shift + at.column(round)));
      const double2 high = __ldg(reinterpret_cast<const double2*>(shift + at.column(round) + 2));
      a[0] -= low.x;
      a[1] -= low.y;
      a[2] -= high.x;
      a[3] -= high.y;
    }
  }
};

/// Waits until all but the last kPending groups of the warp's copies are there.
template <class T, int kPending>
__device__ __forceinline__ void wait_for_leaf() {
  stope::cuda::wait_for_copies<kPending>();
  if constexpr (Lane<T>::kPieces > 1) __syncwarp();
}

/// Reads the lane's columns of a vector that has room for whole leaves and is aligned to 16 bytes.
__device__ __forceinline__ void read_vector(const double* vector, const LaneColumns& at, double (&to)[kOwn]) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const auto* from = reinterpret_cast<const double2*>(vector + at.column(round));
    const double2 low = from[0], high = from[1];
    to[4 * round] = low.x;
    to[4 * round + 1] = low.y;
    to[4 * round + 2] = high.x;
    to[4 * round + 3] = high.y;
  }
}
__device__ __forceinline__ void write_vector(double* vector, const LaneColumns& at, const double (&from)[kOwn]) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    auto* to = reinterpret_cast<double2*>(vector + at.column(round));
    to[0] = make_double2(from[4 * round], from[4 * round + 1]);
    to[1] = make_double2(from[4 * round + 2], from[4 * round + 3]);
  }
}

/// Adds over the lanes: lane and lane ^ kHalf, and so on down to 1. Every lane gets the sum.
template <int kHalf>
__device__ __forceinline__ double add_halves(double v) {
#pragma unroll
  for (int half = kHalf; half >= 1; half /= 2) v += __shfl_xor_sync(0xffffffffU, v, half);
  return v;
}

/// The leaf of a row's product with x; every lane gets it.
template <class T, bool kShifted>
__device__ __forceinline__ double leaf_sum(const char* stage, int lane, const double* shift, const LaneColumns& at,
                                           const double (&x)[kOwn]) {
  double slots[4];
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    double a[4];
    Lane<T>::template read<kShifted>(stage, round, lane, shift, at, a);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      slots[k] = round == 0 ? a[k] * x[k] : __fma_rn(a[k], x[4 * round + k], slots[k]);
    }
  }
  return add_halves<16>((slots[0] + slots[1]) + (slots[2] + slots[3]));
}

/// z += y * a'.
template <class T, bool kShifted>
__device__ __forceinline__ void add_row(const char* stage, int lane, const double* shift, const LaneColumns& at,
                                        double y, double (&z)[kOwn]) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    double a[4];
    Lane<T>::template read<kShifted>(stage, round, lane, shift, at, a);
#pragma unroll
    for (int k = 0; k < 4; ++k) z[4 * round + k] = __fma_rn(y, a[k], z[4 * round + k]);
  }
}

/// The aligned tree over n <= 16 values in shared memory; every lane gets it. Missing values are +0.0.
__device__ __forceinline__ double tree_of_16(const double* values, int n, int lane) {
  const int i = lane % 16;
  double v = i < n ? values[i] : 0.0;
#pragma unroll
  for (int step = 1; step < 16; step *= 2) v += __shfl_xor_sync(0xffffffffU, v, step);
  return v;
}

}  // namespace stope::gram::cuda
