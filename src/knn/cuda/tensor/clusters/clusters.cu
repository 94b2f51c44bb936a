// Rows and queries meet the centres on the matrix units, a warp 16 of them at a time.
#include <cmath>
#include <type_traits>

#include "device/cuda/check.hpp"
#include "knn/cuda/matrix_instructions.cuh"
#include "knn/cuda/tensor/clusters/cluster_reach.hpp"
#include "knn/cuda/tensor/clusters/clusters.hpp"
#include "knn/cuda/tensor/images/tile_layout.cuh"
#include "knn/cuda/tensor/rerank/bounds.cuh"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256, kWarpRows = 16, kBlockRows = kThreads / 32 * kWarpRows;
static_assert(kBlockRows == kTileRows);

__device__ __forceinline__ float infinity() {
  return __int_as_float(0x7f800000);
}

/// A bound of the error of a product of two images, which the matrix units add up from 0. Partial sums stay below half
/// of the sum of the norms (docs/numerics/filter.md, "Rounding").
__device__ __forceinline__ double product_error(int width, double norm, double other) {
  return kAccumulation * static_cast<double>(width + 2) * 0.5 * (norm + other);
}

/// Calls see(i, centre, product) for the products of the warp's 16 rows with all centres, those of the padding
/// included: i is 0 for row lane / 4 and 1 for the row 8 further. `word(row, column)` returns two columns of a row's
/// image.
template <int kWidth, class Word, class See>
__device__ __forceinline__ void multiply_centres(const Centres& centres, int n_padded, const Word& word,
                                                 const See& see) {
  constexpr int kPitch = kWidth + 8;  // rows begin in different banks
  __shared__ __align__(16) __half stage[kCentreRows * kPitch];
  const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4, column = lane % 4 * 2;
  std::uint32_t a[kWidth / 16][4];
#pragma unroll
  for (int k = 0; k < kWidth / 16; ++k) {
    a[k][0] = word(row, k * 16 + column);
    a[k][1] = word(row + 8, k * 16 + column);
    a[k][2] = word(row, k * 16 + column + 8);
    a[k][3] = word(row + 8, k * 16 + column + 8);
  }
#pragma unroll 1
  for (int first = 0; first < n_padded; first += kCentreRows) {
    __syncthreads();  // all products with the centres before are made
    constexpr int kPieces = kWidth / 8;
    for (int i = static_cast<int>(threadIdx.x); i < kCentreRows * kPieces; i += kThreads) {
      const int centre = i / kPieces, piece = i % kPieces;
      *reinterpret_cast<uint4*>(stage + centre * kPitch + piece * 8) = *reinterpret_cast<const uint4*>(
          centres.images + static_cast<std::int64_t>(first + centre) * kWidth + piece * 8);
    }
    __syncthreads();  // the centres are there
#pragma unroll 1
    for (int eight = 0; eight < kCentreRows; eight += 8) {
      const __half* const b = stage + (eight + row) * kPitch + column;
      float sums[4] = {};
#pragma unroll
      for (int k = 0; k < kWidth / 16; ++k) {
        multiply_add<false>(sums, a[k], *reinterpret_cast<const std::uint32_t*>(b + k * 16),
                            *reinterpret_cast<const std::uint32_t*>(b + k * 16 + 8), sums);
      }
      see(0, first + eight + column, sums[0]);
      see(0, first + eight + column + 1, sums[1]);
      see(1, first + eight + column, sums[2]);
      see(1, first + eight + column + 1, sums[3]);
    }
  }
}

/// The centre with the smallest |c|^2 - 2 <x, c>, the first of equal ones.
struct Nearest {
  float value = HUGE_VALF;
  float product = 0.0F;
  int centre = 0;

  __device__ __forceinline__ void see(float other, float other_product, int other_centre) {
    if (other < value || (other == value && other_centre < centre)) {
      value = other;
      product = other_product;
      centre = other_centre;
    }
  }
  /// Takes the nearest of the four lanes that have a row's products.
  __device__ __forceinline__ void join() {
#pragma unroll
    for (int offset = 1; offset < 4; offset *= 2) {
      const float other = __shfl_xor_sync(~0U, value, offset), other_product = __shfl_xor_sync(~0U, product, offset);
      const int other_centre = __shfl_xor_sync(~0U, centre, offset);
      see(other, other_product, other_centre);
    }
  }
};

__device__ __forceinline__ int padded_centres(const Centres& centres) {
  return (centres.n + kCentreRows - 1) / kCentreRows * kCentreRows;
}

/// Finds the nearest centres of the warp's 16 rows.
template <int kWidth, class Word>
__device__ __forceinline__ void find_nearest(const Centres& centres, const Word& word, Nearest (&nearest)[2]) {
  multiply_centres<kWidth>(centres, padded_centres(centres), word, [&](int i, int centre, float product) {
    nearest[i].see(centres.norms[centre] - 2.0F * product, product, centre);
  });
  nearest[0].join();
  nearest[1].join();
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads) assign_kernel(const AssignJob job) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * kBlockRows + threadIdx.x / 32 * kWarpRows;  // rows of whole tiles exist
  Nearest nearest[2];
  find_nearest<kWidth>(
      job.centres,
      [&](int row, int column) {
        return *reinterpret_cast<const std::uint32_t*>(job.tiles + tile_place(first + row, column, kWidth));
      },
      nearest);
  if (lane % 4 != 0) return;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::int64_t row = first + lane / 4 + i * 8;
    if (row >= job.n) continue;
    int cluster = nearest[i].centre;
    const double norm = static_cast<double>(job.norms[row]);
    const double other = static_cast<double>(job.centres.norms[cluster]);
    const double square =
        norm + other - 2.0 * (static_cast<double>(nearest[i].product) - product_error(kWidth, norm, other));
    const float radius = __double2float_ru(sqrt(square > 0.0 ? square : 0.0) * (1.0 + 1e-6));
    // False for NaN: rows that are always listed, or that no product bounds.
    const bool near = job.residuals[row] <= job.most_residual && radius <= job.most_radius && square >= -1.0;
    if (near) {
      // Radii are not negative, so their bits have the same order.
      atomicMax(reinterpret_cast<unsigned*>(job.radii + cluster), __float_as_uint(radius));
    } else {
      cluster = job.centres.n;
    }
    job.keys[row] = static_cast<std::uint64_t>(cluster);
    job.values[row] = static_cast<std::int32_t>(row);
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads) homes_kernel(const NeedJob job) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kBlockRows + threadIdx.x / 32 * kWarpRows;
  Nearest nearest[2];
  find_nearest<kWidth>(
      job.clusters.centres,
      [&](int row, int column) {
        return *reinterpret_cast<const std::uint32_t*>(job.queries + (first + row) * kWidth + column);
      },
      nearest);
  if (lane % 4 != 0) return;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::int64_t query = first + lane / 4 + i * 8;
    if (query < job.n_queries) job.homes[query] = nearest[i].centre;
  }
}

constexpr int kSortThreads = 1024;

/// Returns the sum of the values of the block's threads before this one.
__device__ int sum_before(int value) {
  __shared__ int warp_sums[kSortThreads / 32];
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  int sum = value;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int before = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) warp_sums[warp] = sum;
  __syncthreads();  // all sums of warps are written
  int before = sum - value;
  for (int w = 0; w < warp; ++w) before += warp_sums[w];
  return before;
}

/// Counts queries by their homes and moves each to its place. One block of threads; the order of queries with one home
/// does not matter.
__global__ void __launch_bounds__(kSortThreads) order_kernel(const NeedJob job, std::int64_t n_padded, int n_clusters) {
  __shared__ int places[kMostClusters];
  constexpr int kEach = kMostClusters / kSortThreads;
  const auto thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < kMostClusters; i += kSortThreads) places[i] = 0;
  __syncthreads();  // all counts are zero
  for (std::int64_t query = thread; query < job.n_queries; query += kSortThreads) {
    atomicAdd(places + job.homes[query], 1);
  }
  __syncthreads();  // all queries are counted
  int counts[kEach], sum = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    counts[i] = places[thread * kEach + i];
    sum += counts[i];
  }
  int before = sum_before(sum);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    places[thread * kEach + i] = before;
    before += counts[i];
  }
  __syncthreads();  // all places are known
  for (std::int64_t query = thread; query < n_padded; query += kSortThreads) {
    if (query >= job.n_queries) {
      job.order[query] = static_cast<std::int32_t>(query);
      continue;
    }
    const int home = job.homes[query], place = atomicAdd(places + home, 1);
    job.order[place] = static_cast<std::int32_t>(query);
    job.needed[static_cast<std::int64_t>(place / kBlockQueries) * n_clusters + home] = 1;
  }
}

template <int kWidth>
__global__ void __launch_bounds__(kThreads) need_kernel(const NeedJob job) {
  const int lane = static_cast<int>(threadIdx.x) % 32, n = job.clusters.centres.n;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kBlockRows + threadIdx.x / 32 * kWarpRows;
  QueryReach reaches[2];
  constexpr double kShare = kAccumulation * static_cast<double>(kWidth + 2);
  const float share = centre_share(kShare);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const std::int64_t place = first + lane / 4 + i * 8;
    const bool exists = place < job.n_queries;
    const std::int64_t query = exists ? job.order[place] : 0;
    const QueryBounds bounds = bounds_of(job.bounds, query);
    const float threshold = job.thresholds[query];
    reaches[i] = reach_of({.square = bounds.square,
                           .norm = static_cast<double>(job.bounds.norms[query]),
                           .error = bounds.error,
                           .shift = bounds.shift,
                           .threshold = static_cast<double>(threshold),
                           .accumulation = kShare},
                          !exists || threshold >= kAlways);
  }
  std::uint8_t* const needed =
      job.needed + first / kBlockQueries * static_cast<std::int64_t>(job.clusters.n_clusters());
  multiply_centres<kWidth>(
      job.clusters.centres, padded_centres(job.clusters.centres),
      [&](int row, int column) {
        return *reinterpret_cast<const std::uint32_t*>(
            job.queries + static_cast<std::int64_t>(job.order[first + row]) * kWidth + column);
      },
      [&](int i, int centre, float product) {
        if (centre >= n) return;
        const float norm = job.clusters.centres.norms[centre], radius = job.clusters.radii[centre];
        if (!is_out_of_reach(reaches[i], share, norm, product, radius)) needed[centre] = 1;
      });
  if (!reaches[0].none || !reaches[1].none) needed[n] = 1;  // the last cluster
}

__global__ void __launch_bounds__(kThreads) list_tiles_kernel(const TileListJob job) {
  extern __shared__ std::uint32_t bits[];
  const auto thread = static_cast<int>(threadIdx.x);
  const int n_clusters = job.clusters.n_clusters();
  const auto n_tiles = static_cast<int>(job.clusters.n_tiles), n_words = (n_tiles + 31) / 32;
  for (int w = thread; w < n_words; w += kThreads) bits[w] = 0;
  __syncthreads();  // no tile is marked
  const std::uint8_t* const needed = job.needed + static_cast<std::int64_t>(blockIdx.x) * n_clusters;
  for (int c = thread; c < n_clusters; c += kThreads) {
    const int begin = job.clusters.begins[c], end = job.clusters.begins[c + 1];
    if (needed[c] == 0 || begin >= end) continue;
    for (int tile = begin / kTileRows; tile <= (end - 1) / kTileRows; ++tile)
      atomicOr(bits + tile / 32, 1U << tile % 32);
  }
  if (job.stride > 0) {
    for (std::int64_t tile = thread * job.stride; tile < n_tiles; tile += kThreads * job.stride) {
      atomicOr(bits + tile / 32, 1U << tile % 32);
    }
  }
  __syncthreads();  // all tiles are marked
  if (thread >= 32) return;
  std::int32_t* const tiles = job.tiles + static_cast<std::int64_t>(blockIdx.x) * job.clusters.n_tiles;
  int size = 0;
  for (int first = 0; first < n_words; first += 32) {
    std::uint32_t word = first + thread < n_words ? bits[first + thread] : 0;
    int sum = __popc(word);
    const int own = sum;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(~0U, sum, step);
      if (thread >= step) sum += before;
    }
    int at = size + sum - own;
    for (; word != 0; word &= word - 1) tiles[at++] = (first + thread) * 32 + __ffs(static_cast<int>(word)) - 1;
    size += __shfl_sync(~0U, sum, 31);
  }
  if (thread != 0) return;
  job.sizes[blockIdx.x] = size;
  if (job.n_skipped == nullptr) return;
  // Pairs with rows that exist: the last tile may have fewer.
  const bool last = (bits[(n_tiles - 1) / 32] >> ((n_tiles - 1) % 32) & 1U) != 0;
  const std::int64_t full = job.clusters.n_tiles * kTileRows - job.clusters.n_rows;
  const std::int64_t rows = (job.clusters.n_tiles - size) * kTileRows - (last ? 0 : full);
  const std::int64_t left = job.n_queries - static_cast<std::int64_t>(blockIdx.x) * kBlockQueries;
  const std::int64_t queries = left < kBlockQueries ? left : kBlockQueries;
  atomicAdd(job.n_skipped, static_cast<unsigned long long>(rows * queries));
}

__global__ void __launch_bounds__(kThreads)
    trim_kernel(__half* images, float* norms, int n, int n_padded, int width, int first, int n_columns) {
  const int row = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (row >= n_padded) return;
  for (int c = 0; c < n_columns; ++c) images[static_cast<std::int64_t>(row) * width + first + c] = __half(0.0F);
  if (row >= n) norms[row] = infinity();
}

__global__ void __launch_bounds__(kThreads)
    begins_kernel(const std::uint64_t* keys, std::int64_t n, int n_clusters, std::int32_t* begins) {
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (place > n) return;
  // Every cluster after that of the place before, up to that of this place, begins here.
  const int before = place == 0 ? -1 : static_cast<int>(keys[place - 1]);
  const int here = place == n ? n_clusters : static_cast<int>(keys[place]);
  for (int c = before + 1; c <= here; ++c) begins[c] = static_cast<std::int32_t>(place);
}

__global__ void __launch_bounds__(kThreads) reorder_kernel(const ReorderJob job) {
  const int pieces = job.width / 8;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < job.n_padded * pieces;
       i += step) {
    const std::int64_t place = i / pieces, row = place < job.n ? job.order[place] : place;
    const int piece = static_cast<int>(i % pieces);
    if (job.to != nullptr) {
      *reinterpret_cast<uint4*>(job.to + tile_place(place, piece * 8, job.width)) =
          *reinterpret_cast<const uint4*>(job.from + tile_place(row, piece * 8, job.width));
    }
    if (piece == 0 && job.from_starts != nullptr) job.to_starts[place] = job.from_starts[row];
  }
}

__global__ void __launch_bounds__(kThreads) reorder_starts_kernel(const ReorderJob job) {
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (place < job.n_padded) job.to_starts[place] = job.from_starts[place < job.n ? job.order[place] : place];
}

unsigned blocks_of(std::int64_t n, std::int64_t each) {
  return static_cast<unsigned>((n + each - 1) / each);
}

/// Calls launch with the width of the images as a constant.
template <class Launch>
void with_width(int width, const Launch& launch) {
  switch (width) {
    case 32: return launch(std::integral_constant<int, 32>());
    case 64: return launch(std::integral_constant<int, 64>());
    case 96: return launch(std::integral_constant<int, 96>());
    default: return launch(std::integral_constant<int, 128>());
  }
}

}  // namespace

void launch_trim_centres(__half* images, float* norms, int n, int n_padded, int width, int first, int n_columns,
                         cudaStream_t stream) {
  trim_kernel<<<blocks_of(n_padded, kThreads), kThreads, 0, stream>>>(images, norms, n, n_padded, width, first,
                                                                      n_columns);
  stope::cuda::check_launch("making centres");
}

void launch_assign(const AssignJob& job, cudaStream_t stream) {
  with_width(job.centres.width, [&](auto width) {
    assign_kernel<decltype(width)::value><<<blocks_of(job.n, kBlockRows), kThreads, 0, stream>>>(job);
  });
  stope::cuda::check_launch("finding clusters");
}

void launch_begins(const std::uint64_t* keys, std::int64_t n, int n_clusters, std::int32_t* begins,
                   cudaStream_t stream) {
  begins_kernel<<<blocks_of(n + 1, kThreads), kThreads, 0, stream>>>(keys, n, n_clusters, begins);
  stope::cuda::check_launch("finding clusters");
}

void launch_reorder(const ReorderJob& job, cudaStream_t stream) {
  if (job.to == nullptr) {
    reorder_starts_kernel<<<blocks_of(job.n_padded, kThreads), kThreads, 0, stream>>>(job);
  } else {
    constexpr unsigned kBlocks = 2048;
    reorder_kernel<<<kBlocks, kThreads, 0, stream>>>(job);
  }
  stope::cuda::check_launch("putting images in order");
}

void launch_homes(const NeedJob& job, cudaStream_t stream) {
  const auto blocks = blocks_of(job.n_queries, kBlockRows);
  with_width(job.clusters.centres.width,
             [&](auto width) { homes_kernel<decltype(width)::value><<<blocks, kThreads, 0, stream>>>(job); });
  const std::int64_t n_padded = static_cast<std::int64_t>(blocks_of(job.n_queries, kBlockQueries)) * kBlockQueries;
  order_kernel<<<1, kSortThreads, 0, stream>>>(job, n_padded, job.clusters.n_clusters());
  stope::cuda::check_launch("putting queries in order");
}

void launch_need(const NeedJob& job, cudaStream_t stream) {
  with_width(job.clusters.centres.width, [&](auto width) {
    need_kernel<decltype(width)::value><<<blocks_of(job.n_queries, kBlockRows), kThreads, 0, stream>>>(job);
  });
  stope::cuda::check_launch("finding what queries need");
}

void launch_list_tiles(const TileListJob& job, cudaStream_t stream) {
  const auto bytes = static_cast<unsigned>((job.clusters.n_tiles + 31) / 32 * 4);
  list_tiles_kernel<<<blocks_of(job.n_queries, kBlockQueries), kThreads, bytes, stream>>>(job);
  stope::cuda::check_launch("listing tiles");
}

}  // namespace stope::knn::cuda
