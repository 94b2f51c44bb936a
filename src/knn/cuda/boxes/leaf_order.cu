// Large parts are split level by level: one sort by (part, number) halves all of them. Parts that fit the shared memory
// of a block of threads are split there until only leaves are left.
#include "device/cuda/check.hpp"
#include "knn/cuda/boxes/leaf_order.hpp"

namespace stope::knn::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlockRows = 2048, kBlockThreads = 1024, kMostBlockParts = kBlockRows / 16;
// Rows of a part whose spread chooses the column.
constexpr std::int64_t kSampleRows = 256;

// Returns the column in which a sample of n rows has the widest spread. A warp calls it together.
template <class RowAt>
__device__ int widest_column(const float* images, int n_columns, std::int64_t n, const RowAt& row_at) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t step = n > kSampleRows ? n / kSampleRows : 1;
  int widest = 0;
  float most = -1.0F;
  for (int c = 0; c < n_columns; ++c) {
    float low = __int_as_float(0x7f800000), high = -low;
    for (std::int64_t i = lane * step; i < n; i += 32 * step) {
      const float number = images[static_cast<std::int64_t>(row_at(i)) * n_columns + c];
      low = fminf(low, number);  // takes the other one of a missing number
      high = fmaxf(high, number);
    }
    for (int other = 16; other > 0; other /= 2) {
      low = fminf(low, __shfl_xor_sync(0xffffffffU, low, other));
      high = fmaxf(high, __shfl_xor_sync(0xffffffffU, high, other));
    }
    if (high - low > most) most = high - low, widest = c;
  }
  return widest;
}

__global__ void __launch_bounds__(kThreads) number_kernel(std::int64_t n, std::int32_t* values) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) values[i] = static_cast<std::int32_t>(i);
}

// One warp a part.
__global__ void __launch_bounds__(kThreads) column_kernel(const LeafShape shape, int level, const float* images,
                                                          int n_columns, const std::int32_t* rows, Split* splits) {
  const std::int64_t part = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) / 32;
  if (part >> level != 0) return;
  const std::int64_t begin = shape.begin(level, part), end = shape.begin(level, part + 1);
  const int widest = widest_column(images, n_columns, end - begin, [&](std::int64_t i) { return rows[begin + i]; });
  if (threadIdx.x % 32 == 0) splits[(std::int64_t{1} << level) + part].column = widest;
}

__global__ void __launch_bounds__(kThreads)
    key_kernel(const LeafShape shape, int level, const float* images, int n_columns, const std::int32_t* rows,
               const Split* splits, std::uint64_t* keys) {
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (place >= shape.n_rows) return;
  const std::int64_t part = shape.part_at(level, place);
  const std::int32_t column = splits[(std::int64_t{1} << level) + part].column;
  const std::uint32_t key = number_key(images[static_cast<std::int64_t>(rows[place]) * n_columns + column]);
  keys[place] = static_cast<std::uint64_t>(part) << 32 | key;
}

__global__ void __launch_bounds__(kThreads)
    split_kernel(const LeafShape shape, int level, const std::uint64_t* keys, Split* splits) {
  const std::int64_t part = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (part >> level != 0) return;
  splits[(std::int64_t{1} << level) + part].key =
      static_cast<std::uint32_t>(keys[shape.begin(level + 1, 2 * part + 1)]);
}

// Sorts kBlockRows keys in shared memory.
__device__ void sort_in_block(std::uint64_t* keys) {
  for (int size = 2; size <= kBlockRows; size *= 2) {
    for (int step = size / 2; step > 0; step /= 2) {
      __syncthreads();  // every thread has done the last step
      const int i = static_cast<int>(threadIdx.x);
      const int first = 2 * i - (i & (step - 1)), second = first + step;
      const std::uint64_t a = keys[first], b = keys[second];
      const bool ascending = (first & size) == 0;
      if ((a > b) == ascending) keys[first] = b, keys[second] = a;
    }
  }
  __syncthreads();  // all keys are sorted
}

// One block of threads a part of level `top`. A key is the part below it, the number, and the place, which breaks ties.
__global__ void __launch_bounds__(kBlockThreads) finish_kernel(const LeafShape shape, int top, const float* images,
                                                               int n_columns, std::int32_t* rows, Split* splits) {
  static_assert(kBlockThreads * 2 == kBlockRows);
  constexpr int kPlaceBits = 11;
  static_assert(1 << kPlaceBits == kBlockRows);
  __shared__ std::uint64_t keys[kBlockRows];
  __shared__ std::int32_t held[kBlockRows];
  __shared__ int columns[kMostBlockParts];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const std::int64_t base = shape.begin(top, blockIdx.x);
  const int n = static_cast<int>(shape.begin(top, static_cast<std::int64_t>(blockIdx.x) + 1) - base);
  for (int i = thread; i < n; i += kBlockThreads) held[i] = rows[base + i];
  __syncthreads();  // all rows are there
  for (int level = top; level < shape.depth; ++level) {
    const int n_parts = 1 << (level - top);
    const std::int64_t first_part = static_cast<std::int64_t>(blockIdx.x) << (level - top);
    const auto begin_of = [&](int at, std::int64_t part) { return static_cast<int>(shape.begin(at, part) - base); };
    for (int part = warp; part < n_parts; part += kBlockThreads / 32) {
      const int begin = begin_of(level, first_part + part), end = begin_of(level, first_part + part + 1);
      const int widest = widest_column(images, n_columns, end - begin, [&](std::int64_t i) { return held[begin + i]; });
      if (lane == 0) columns[part] = widest;
    }
    __syncthreads();  // all columns are chosen
    for (int i = thread; i < kBlockRows; i += kBlockThreads) {
      keys[i] = ~std::uint64_t{0};
      if (i >= n) continue;
      const auto part = static_cast<int>(shape.part_at(level, base + i) - first_part);
      const std::uint32_t key = number_key(images[static_cast<std::int64_t>(held[i]) * n_columns + columns[part]]);
      keys[i] = (static_cast<std::uint64_t>(part) << 32 | key) << kPlaceBits | static_cast<std::uint64_t>(i);
    }
    sort_in_block(keys);
    std::int32_t moved[2];
    for (int i = 0; i < 2; ++i) {
      const int at = thread + i * kBlockThreads;
      if (at < n) moved[i] = held[static_cast<int>(keys[at]) & (kBlockRows - 1)];
    }
    for (int part = thread; part < n_parts; part += kBlockThreads) {
      const int half = begin_of(level + 1, 2 * (first_part + part) + 1);
      splits[(std::int64_t{1} << level) + first_part + part] = {static_cast<std::uint32_t>(keys[half] >> kPlaceBits),
                                                                columns[part]};
    }
    __syncthreads();  // every thread has read the rows that move
    for (int i = 0; i < 2; ++i) {
      const int at = thread + i * kBlockThreads;
      if (at < n) held[at] = moved[i];
    }
    __syncthreads();  // all rows have moved
  }
  for (int i = thread; i < n; i += kBlockThreads) rows[base + i] = held[i];
}

unsigned blocks_for(std::int64_t threads) {
  return static_cast<unsigned>(checked::ceil_div(threads, kThreads));
}

}  // namespace

void order_rows(const LeafShape& shape, const float* images, int n_columns, PairSort& sort, Split* splits,
                const stope::cuda::Stream& stream) {
  number_kernel<<<blocks_for(shape.n_rows), kThreads, 0, stream.get()>>>(shape.n_rows, sort.values());
  stope::cuda::check_launch("numbering rows");
  int level = 0;
  for (; ((shape.n_rows - 1) >> level) >= kBlockRows; ++level) {
    const std::int64_t n_parts = std::int64_t{1} << level;
    column_kernel<<<blocks_for(n_parts * 32), kThreads, 0, stream.get()>>>(shape, level, images, n_columns,
                                                                           sort.values(), splits);
    stope::cuda::check_launch("choosing columns");
    key_kernel<<<blocks_for(shape.n_rows), kThreads, 0, stream.get()>>>(shape, level, images, n_columns, sort.values(),
                                                                        splits, sort.keys());
    stope::cuda::check_launch("making keys");
    sort.sort(shape.n_rows, 32 + level, stream);
    split_kernel<<<blocks_for(n_parts), kThreads, 0, stream.get()>>>(shape, level, sort.keys(), splits);
    stope::cuda::check_launch("splitting parts");
  }
  if (level == shape.depth) return;
  finish_kernel<<<1U << level, kBlockThreads, 0, stream.get()>>>(shape, level, images, n_columns, sort.values(),
                                                                 splits);
  stope::cuda::check_launch("splitting small parts");
}

}  // namespace stope::knn::cuda
