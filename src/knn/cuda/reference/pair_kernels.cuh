// Every pair of a tile by the reference formula in double precision, attributes in column order: the results have the
// bits of the host.
//
// This is compiled with --fmad=false: a fused multiply-add rounds once where the host rounds twice.
#pragma once

#include <algorithm>
#include <cstring>
#include <typeinfo>

#include "device/cuda/check.hpp"
#include "knn/cuda/reference/pair_kernels.hpp"
#include "knn/measure/measures.hpp"

namespace stope::knn::cuda {

// --- accumulating measures ------------------------------------------------------------------------------------------

// A block of 16 x 8 threads takes 64 x 16 pairs, and a thread takes 4 x 2. Six values read from shared memory then
// serve eight pairs. The eight states, of up to four doubles each, still fit the registers.
inline constexpr int kThreadsX = 16, kThreadsY = 8, kPairsX = 4, kPairsY = 2;
inline constexpr int kThreads = kThreadsX * kThreadsY;
inline constexpr int kTileX = kThreadsX * kPairsX, kTileY = kThreadsY * kPairsY;
// Attributes that are in shared memory at once: 128 bytes a row, one transaction.
inline constexpr int kPanel = 16;

/// Loads rows [first, first + kRows) of `rows`, attributes [begin, begin + kPanel), into shared memory. Beyond the last
/// row it repeats that row's values; beyond the last attribute it reads nothing. Neither is used.
template <int kRows>
__device__ void load_panel(double (&panel)[kRows][kPanel + 1], const double* rows, std::int64_t n, std::int64_t first,
                           std::int64_t width, std::int64_t begin) {
  const int column = static_cast<int>(threadIdx.x) % kPanel;
  if (begin + column >= width) return;
  for (int r = static_cast<int>(threadIdx.x) / kPanel; r < kRows; r += kThreads / kPanel) {
    const std::int64_t row = first + r < n ? first + r : n - 1;
    panel[r][column] = rows[row * width + begin + column];
  }
}

template <class M>
__global__ void __launch_bounds__(kThreads) sum_kernel(const M measure, const PairTile tile) {
  static_assert(kThreads % kPanel == 0);
  // One spare column moves each row to the next bank: the 16 rows of a half-warp touch 16 different ones.
  __shared__ double xs[kTileX][kPanel + 1];
  __shared__ double ys[kTileY][kPanel + 1];
  const std::int64_t tiles_x = (tile.n_x + kTileX - 1) / kTileX;
  const std::int64_t first_x = blockIdx.x % tiles_x * kTileX, first_y = blockIdx.x / tiles_x * kTileY;
  const int thread_x = static_cast<int>(threadIdx.x) % kThreadsX, thread_y = static_cast<int>(threadIdx.x) / kThreadsX;

  typename M::State states[kPairsX][kPairsY];
  for (std::int64_t begin = 0; begin < tile.width; begin += kPanel) {
    load_panel(xs, tile.x, tile.n_x, first_x, tile.width, begin);
    load_panel(ys, tile.y, tile.n_y, first_y, tile.width, begin);
    __syncthreads();  // both panels are complete
    const int n = static_cast<int>(tile.width - begin < kPanel ? tile.width - begin : kPanel);
    for (int a = 0; a < n; ++a) {
      const Attribute attribute = tile.attributes[begin + a];
#pragma unroll
      for (int i = 0; i < kPairsX; ++i) {
#pragma unroll
        for (int j = 0; j < kPairsY; ++j) {
          measure.add(states[i][j], xs[thread_x + i * kThreadsX][a], ys[thread_y + j * kThreadsY][a], attribute);
        }
      }
    }
    __syncthreads();  // no thread reads the panels any more
  }

#pragma unroll
  for (int i = 0; i < kPairsX; ++i) {
#pragma unroll
    for (int j = 0; j < kPairsY; ++j) {
      const std::int64_t x = first_x + thread_x + i * kThreadsX, y = first_y + thread_y + j * kThreadsY;
      if (x >= tile.n_x || y >= tile.n_y) continue;
      tile.out[x * tile.x_stride + y * tile.y_stride] =
          tile.quantity == Quantity::distance ? result_of_state<Quantity::distance>(measure, states[i][j])
                                              : result_of_state<Quantity::similarity>(measure, states[i][j]);
    }
  }
}

// --- whole-row measures ---------------------------------------------------------------------------------------------

inline constexpr int kRowThreads = 128;

/// One pair a thread. Neighbouring threads have neighbouring rows of x, so that what they share stays in the L1 cache.
template <class M>
__global__ void __launch_bounds__(kRowThreads) row_kernel(const M measure, const PairTile tile) {
  const std::int64_t id = static_cast<std::int64_t>(blockIdx.x) * kRowThreads + threadIdx.x;
  const std::int64_t n_threads = static_cast<std::int64_t>(gridDim.x) * kRowThreads;
  double* scratch = nullptr;
  std::int64_t step = n_threads;
  if (tile.scratch_doubles > 0) {
    if (id >= tile.scratch_threads) return;
    scratch = tile.scratch + id * tile.scratch_doubles;
    step = n_threads < tile.scratch_threads ? n_threads : tile.scratch_threads;
  }
  for (std::int64_t pair = id; pair < tile.n_x * tile.n_y; pair += step) {
    const std::int64_t i = pair % tile.n_x, j = pair / tile.n_x;
    const RowPair rows{tile.x + i * tile.width, tile.y + j * tile.width, tile.attributes, tile.width, scratch};
    tile.out[i * tile.x_stride + j * tile.y_stride] = tile.quantity == Quantity::distance
                                                          ? result_of_rows<Quantity::distance>(measure, rows)
                                                          : result_of_rows<Quantity::similarity>(measure, rows);
  }
}

// --- launching ------------------------------------------------------------------------------------------------------

template <class M>
void launch_pairs(const PairTile& tile, const void* bytes, const double* storage, cudaStream_t stream) {
  alignas(M) unsigned char copy[sizeof(M)];
  std::memcpy(copy, bytes, sizeof(M));
  M& measure = *reinterpret_cast<M*>(copy);
  if constexpr (requires { measure.inverse; }) measure.inverse = storage;
  if (tile.n_x == 0 || tile.n_y == 0) return;
  if constexpr (Accumulating<M>) {
    const std::int64_t blocks = ((tile.n_x + kTileX - 1) / kTileX) * ((tile.n_y + kTileY - 1) / kTileY);
    sum_kernel<M><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(measure, tile);
  } else {
    std::int64_t threads = tile.n_x * tile.n_y;
    if (tile.scratch_doubles > 0) threads = std::min(threads, tile.scratch_threads);
    const std::int64_t blocks = (threads + kRowThreads - 1) / kRowThreads;
    row_kernel<M><<<static_cast<unsigned>(blocks), kRowThreads, 0, stream>>>(measure, tile);
  }
  stope::cuda::check_launch("computing distances");
}

template <class... M>
std::span<const PairKernel> pair_kernels(MeasureList<M...> /*measures*/) {
  static const PairKernel kernels[] = {{typeid(M).name(), sizeof(M), &launch_pairs<M>}...};
  return kernels;
}

}  // namespace stope::knn::cuda
