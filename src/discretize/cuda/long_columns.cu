// The best cut of columns of any length: words (value's code, class) are sorted by CUB's radix sort, by the bits they
// have; then warps go through pieces of the sorted columns, once the classes in front of each piece are counted.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <vector>

#include "device/cuda/buffer.hpp"
#include "device/cuda/check.hpp"
#include "discretize/cuda/codes.cuh"
#include "discretize/cuda/job.hpp"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;
using stope::cuda::DeviceBuffer;

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr std::int64_t kPieceRows = 1024;           // of a warp
constexpr std::int64_t kSegmentedRows = 32768;      // a block of threads sorts a column of so many as fast as all do
constexpr std::int64_t kRangeRows = 64 * kThreads;  // of a block that looks for the range
constexpr unsigned kAll = 0xffffffffU;

/// Minima and maxima of KeyRange as numbers that only grow.
template <class T>
struct RangeThere {
  using Unsigned = typename KeyOf<T>::Unsigned;
  static constexpr Unsigned kSign = Unsigned{1} << (sizeof(T) * 8 - 1);
  Unsigned not_below_lowest, high_negative, not_below_positive, highest;

  __host__ __device__ KeyRange<T> range() const {
    return {static_cast<typename KeyOf<T>::Signed>(~not_below_lowest ^ kSign), high_negative, ~not_below_positive,
            static_cast<typename KeyOf<T>::Signed>(highest)};
  }
};

__device__ void raise(std::uint32_t* to, std::uint32_t v) {
  atomicMax(to, v);
}
__device__ void raise(std::uint64_t* to, std::uint64_t v) {
  atomicMax(reinterpret_cast<unsigned long long*>(to), v);
}

/// blockIdx.x: part of the column; blockIdx.y: column. `ranges` is zero before.
template <class T>
__global__ void __launch_bounds__(kThreads) range_kernel(const Columns<T> columns, RangeThere<T>* ranges) {
  using There = RangeThere<T>;
  const std::int64_t column = blockIdx.y, begin = blockIdx.x * kRangeRows;
  const std::int64_t end = begin + kRangeRows < columns.n_rows ? begin + kRangeRows : columns.n_rows;
  const T* const x = columns.values + column * columns.n_rows;
  KeyRange<T> range;
  for (std::int64_t row = begin + threadIdx.x; row < end; row += kThreads) range.add(signed_key(x[row]));
  __shared__ There all;
  if (threadIdx.x == 0) all = {};
  __syncthreads();
  raise(&all.not_below_lowest, ~(static_cast<typename There::Unsigned>(range.below_lowest) ^ There::kSign));
  raise(&all.high_negative, range.high_negative);
  raise(&all.not_below_positive, ~range.below_positive);
  raise(&all.highest, static_cast<typename There::Unsigned>(range.highest));
  __syncthreads();
  if (threadIdx.x != 0) return;
  raise(&ranges[column].not_below_lowest, all.not_below_lowest);
  raise(&ranges[column].high_negative, all.high_negative);
  raise(&ranges[column].not_below_positive, all.not_below_positive);
  raise(&ranges[column].highest, all.highest);
}

template <class T, class Word>
__global__ void __launch_bounds__(kThreads)
    words_kernel(const Columns<T> columns, const RangeThere<T>* ranges, Word* words) {
  const std::int64_t column = blockIdx.y, row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= columns.n_rows) return;
  const Codes<T> codes(ranges[column].range());
  const auto code = static_cast<Word>(codes.code(signed_key(columns.values[column * columns.n_rows + row])));
  words[column * columns.n_rows + row] = code << columns.class_bits | columns.classes[row];
}

/// A warp's piece of a sorted column.
struct Piece {
  std::int64_t column, number, n_pieces, begin, end;

  __device__ explicit Piece(std::int64_t n_rows)
      : column(blockIdx.y),
        number(static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32),
        n_pieces((n_rows + kPieceRows - 1) / kPieceRows),
        begin(number * kPieceRows),
        end(begin + kPieceRows < n_rows ? begin + kPieceRows : n_rows) {}
};

/// counts[column][class][piece] of each piece. Shared memory: n_classes counters a warp.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    count_kernel(const Word* words, std::int64_t n_rows, int n_classes, int class_bits, std::uint32_t* counts) {
  extern __shared__ std::uint32_t shared[];
  const Piece piece(n_rows);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t* const mine = shared + threadIdx.x / 32 * n_classes;
  for (int k = lane; k < n_classes; k += 32) mine[k] = 0;
  __syncwarp();
  if (piece.number >= piece.n_pieces) return;
  const Word mask = (Word{1} << class_bits) - 1;
  for (std::int64_t i = piece.begin + lane; i < piece.end; i += 32) {
    atomicAdd(mine + (words[piece.column * n_rows + i] & mask), 1U);
  }
  __syncwarp();
  for (int k = lane; k < n_classes; k += 32) {
    counts[(piece.column * n_classes + k) * piece.n_pieces + piece.number] = mine[k];
  }
}

/// Each row of counts becomes the sums of what stands in front. A warp a row.
__global__ void __launch_bounds__(kThreads) sums_kernel(std::uint32_t* counts, std::int64_t n_pieces, std::int64_t n) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (row >= n) return;
  std::uint32_t before = 0;
  for (std::int64_t first = 0; first < n_pieces; first += 32) {
    const std::int64_t i = first + lane;
    const std::uint32_t own = i < n_pieces ? counts[row * n_pieces + i] : 0;
    std::uint32_t sum = own;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::uint32_t o = __shfl_up_sync(kAll, sum, apart);
      if (lane >= apart) sum += o;
    }
    if (i < n_pieces) counts[row * n_pieces + i] = before + sum - own;
    before += __shfl_sync(kAll, sum, 31);
  }
}

/// The higher W, of equal ones the lower position.
struct Best {
  std::int64_t w = 0, position = -1;

  __device__ void take(std::int64_t other_w, std::int64_t other_position) {
    if (other_w > w || (other_w == w && other_w > 0 && other_position < position)) {
      w = other_w;
      position = other_position;
    }
  }
  __device__ void take_lanes() {
#pragma unroll
    for (int half = 16; half >= 1; half /= 2) {
      take(__shfl_xor_sync(kAll, w, half), __shfl_xor_sync(kAll, position, half));
    }
  }
};

/// The best cut of each piece, behind one of its rows. Shared memory: n_classes counters a warp.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    score_kernel(const Word* words, std::int64_t n_rows, int n_classes, int class_bits, const std::int64_t* totals,
                 const std::uint32_t* counts, Best* best) {
  extern __shared__ std::uint32_t shared[];
  const Piece piece(n_rows);
  if (piece.number >= piece.n_pieces) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint32_t* const left = shared + threadIdx.x / 32 * n_classes;
  std::int64_t same = 0;
  for (int k = lane; k < n_classes; k += 32) {
    left[k] = counts[(piece.column * n_classes + k) * piece.n_pieces + piece.number];
    same += left[k] * (totals[k] - left[k]);
  }
#pragma unroll
  for (int half = 16; half >= 1; half /= 2) same += __shfl_xor_sync(kAll, same, half);
  std::int64_t w = piece.begin * (n_rows - piece.begin) - same;  // in front of the piece
  __syncwarp();
  const Word* const column = words + piece.column * n_rows;
  const Word mask = (Word{1} << class_bits) - 1;
  Best found;
  for (std::int64_t first = piece.begin; first < piece.end; first += 32) {
    const std::int64_t i = first + lane;
    const bool is_there = i < piece.end;
    const Word word = is_there ? column[i] : 0, next = i + 1 < n_rows && is_there ? column[i + 1] : word;
    const auto k = is_there ? static_cast<unsigned>(word & mask) : static_cast<unsigned>(n_classes);
    const unsigned same_class = __match_any_sync(kAll, k);
    const auto before = static_cast<std::int64_t>(__popc(same_class & ((1U << lane) - 1)));
    std::int64_t gain = 0;
    if (is_there) gain = n_rows - totals[k] - 2 * (i - (left[k] + before));
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
      const std::int64_t o = __shfl_up_sync(kAll, gain, apart);
      if (lane >= apart) gain += o;
    }
    if (is_there && (word ^ next) >> class_bits != 0) found.take(w + gain, i);
    w += __shfl_sync(kAll, gain, 31);
    __syncwarp();  // all have read the counters
    if (is_there && before == 0) left[k] += static_cast<std::uint32_t>(__popc(same_class));
    __syncwarp();
  }
  found.take_lanes();
  if (lane == 0) best[piece.column * piece.n_pieces + piece.number] = found;
}

/// The best of a column's pieces. A warp a column.
template <class T, class Word>
__global__ void __launch_bounds__(32)
    settle_kernel(const Word* words, const Columns<T> columns, const RangeThere<T>* ranges, const Best* best,
                  std::int64_t n_pieces, const CutsThere cuts) {
  const std::int64_t column = blockIdx.x;
  Best found;
  for (std::int64_t i = threadIdx.x; i < n_pieces; i += 32) {
    const Best& of_piece = best[column * n_pieces + i];
    found.take(of_piece.w, of_piece.position);
  }
  found.take_lanes();
  if (threadIdx.x != 0) return;
  cuts.w[column] = found.w;
  if (found.w == 0) return;
  const Codes<T> codes(ranges[column].range());
  const Word* const at = words + column * columns.n_rows + found.position;
  cuts.low[column] = codes.value(static_cast<typename KeyOf<T>::Unsigned>(at[0] >> columns.class_bits));
  cuts.high[column] = codes.value(static_cast<typename KeyOf<T>::Unsigned>(at[1] >> columns.class_bits));
}

/// Where columns of n_rows begin, for CUB.
struct Offset {
  std::int64_t n_rows, first;
  __host__ __device__ std::int64_t operator()(std::int64_t i) const { return (i + first) * n_rows; }
};

template <class Word>
void sort_columns(cub::DoubleBuffer<Word>& words, std::int64_t n_rows, std::int64_t n_columns, int bits,
                  cudaStream_t stream) {
  DeviceBuffer<char> memory;
  const auto with_memory = [&](const auto& call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), "asking what sorting takes");
    if (static_cast<std::int64_t>(bytes) > memory.size()) memory = DeviceBuffer<char>(static_cast<std::int64_t>(bytes));
    check(call(memory.data(), bytes), "sorting");
  };
  if (n_rows <= kSegmentedRows) {
    const auto begins =
        thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), Offset{n_rows, 0});
    const auto ends =
        thrust::make_transform_iterator(thrust::make_counting_iterator(std::int64_t{0}), Offset{n_rows, 1});
    with_memory([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceSegmentedRadixSort::SortKeys(scratch, bytes, words, n_rows * n_columns, n_columns, begins, ends,
                                                     0, bits, stream);
    });
    return;
  }
  Word* const from = words.Current();
  Word* const to = words.Alternate();
  int selector = 0;
  for (std::int64_t column = 0; column < n_columns; ++column) {
    cub::DoubleBuffer<Word> own(from + column * n_rows, to + column * n_rows);
    with_memory([&](void* scratch, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeys(scratch, bytes, own, n_rows, 0, bits, stream);
    });
    selector = own.selector;  // depends on the number of bits alone
  }
  words.selector = selector;
}

unsigned blocks_of(std::int64_t n, std::int64_t of_block) {
  return static_cast<unsigned>((n + of_block - 1) / of_block);
}

template <class T, class Word>
void find_cuts(const Columns<T>& columns, const RangeThere<T>* ranges, int bits, const CutsThere& cuts,
               cudaStream_t stream) {
  const std::int64_t size = columns.n_rows * columns.n_columns;
  const std::int64_t n_pieces = (columns.n_rows + kPieceRows - 1) / kPieceRows;
  DeviceBuffer<Word> first(size), second(size);
  cub::DoubleBuffer<Word> words(first.data(), second.data());
  const auto n_columns = static_cast<unsigned>(columns.n_columns);
  words_kernel<T, Word>
      <<<dim3(blocks_of(columns.n_rows, kThreads), n_columns), kThreads, 0, stream>>>(columns, ranges, first.data());
  check_launch("coding columns");
  sort_columns(words, columns.n_rows, columns.n_columns, bits, stream);
  DeviceBuffer<std::uint32_t> counts(columns.n_columns * columns.n_classes * n_pieces);
  DeviceBuffer<Best> best(columns.n_columns * n_pieces);
  const dim3 grid(blocks_of(n_pieces, kWarps), n_columns);
  const std::size_t shared = static_cast<std::size_t>(columns.n_classes) * kWarps * sizeof(std::uint32_t);
  count_kernel<Word><<<grid, kThreads, shared, stream>>>(words.Current(), columns.n_rows, columns.n_classes,
                                                         columns.class_bits, counts.data());
  check_launch("counting classes");
  const std::int64_t n_counted = columns.n_columns * columns.n_classes;
  sums_kernel<<<blocks_of(n_counted, kWarps), kThreads, 0, stream>>>(counts.data(), n_pieces, n_counted);
  check_launch("adding classes");
  score_kernel<Word><<<grid, kThreads, shared, stream>>>(words.Current(), columns.n_rows, columns.n_classes,
                                                         columns.class_bits, columns.totals, counts.data(),
                                                         best.data());
  check_launch("scoring cuts");
  settle_kernel<T, Word><<<n_columns, 32, 0, stream>>>(words.Current(), columns, ranges, best.data(), n_pieces, cuts);
  check_launch("settling cuts");
  check(cudaStreamSynchronize(stream), "best cuts of long columns");  // before the memory goes
}

}  // namespace

template <class T>
void find_cuts_of_long(const Columns<T>& columns, const CutsThere& cuts, cudaStream_t stream) {
  const auto n = static_cast<std::size_t>(columns.n_columns);
  DeviceBuffer<RangeThere<T>> ranges(columns.n_columns);
  check(cudaMemsetAsync(ranges.data(), 0, n * sizeof(RangeThere<T>), stream), "clearing ranges");
  range_kernel<T><<<dim3(blocks_of(columns.n_rows, kRangeRows), static_cast<unsigned>(n)), kThreads, 0, stream>>>(
      columns, ranges.data());
  check_launch("looking for ranges");
  std::vector<RangeThere<T>> found(n);
  check(cudaMemcpyAsync(found.data(), ranges.data(), n * sizeof(RangeThere<T>), cudaMemcpyDeviceToHost, stream),
        "copying ranges");
  check(cudaStreamSynchronize(stream), "looking for ranges");
  int bits = 1;
  for (const RangeThere<T>& range : found) {
    int own = columns.class_bits;
    for (auto code = Codes<T>(range.range()).highest(); code != 0; code /= 2) ++own;
    bits = std::max(bits, own);
  }
  if (bits <= 32) return find_cuts<T, std::uint32_t>(columns, ranges.data(), bits, cuts, stream);
  if (bits <= 64) return find_cuts<T, std::uint64_t>(columns, ranges.data(), bits, cuts, stream);
  check(cudaMemsetAsync(cuts.w, 0xff, n * sizeof(std::int64_t), stream), "leaving columns undecided");
  static_assert(kUndecided == -1);
}

template void find_cuts_of_long<float>(const Columns<float>&, const CutsThere&, cudaStream_t);
template void find_cuts_of_long<double>(const Columns<double>&, const CutsThere&, cudaStream_t);

}  // namespace stope::discretize::cuda
