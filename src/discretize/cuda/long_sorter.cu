// Launches of the sort. Keys of 32 bits serve as ranks; those of float64 are replaced by dense ranks.
#include "discretize/cuda/long_sorter.hpp"

#include <bit>
#include <type_traits>
#include <utility>

#include "device/cuda/check.hpp"
#include "discretize/cuda/long_pieces.cuh"
#include "discretize/cuda/long_sort.cuh"
#include "discretize/sort_memory.hpp"

namespace stope::discretize::cuda {
namespace {

using stope::cuda::check;
using stope::cuda::check_launch;

constexpr std::int64_t kPartRows = 1 << 15;  // rows that a block counts digits of

/// Bits of a row's word below its class; 32: there is no room for the class.
int bits_below_class(std::int64_t n_rows, int n_classes) {
  const int bits = std::bit_width(static_cast<std::uint64_t>(n_rows - 1));
  return bits + std::bit_width(static_cast<unsigned>(n_classes - 1)) <= 32 ? bits : 32;
}

template <class T, bool kFirst, bool kLast>
void launch(const SortPass<T>& job, std::int64_t n_columns, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(n_columns * job.n_tiles);
  constexpr std::size_t kShared = sizeof(SortMemory<SortKey<T>>);
  check(cudaFuncSetAttribute(sort_pass_kernel<T, kFirst, kLast>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kShared)),
        "asking for shared memory");
  sort_pass_kernel<T, kFirst, kLast><<<blocks, kSortThreads, kShared, stream>>>(job);
  check_launch("sorting columns");
}

template <class T>
void count_digits(const T* values, std::int64_t n_rows, std::int64_t n_columns, std::uint32_t* counts,
                  cudaStream_t stream) {
  constexpr int kShared = kDigitWords<SortKey<T>> * 4;
  const std::int64_t n_parts = (n_rows + kPartRows - 1) / kPartRows;
  check(cudaFuncSetAttribute(digits_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "asking for shared memory");
  digits_kernel<T><<<static_cast<unsigned>(n_columns * n_parts), kDigitThreads, kShared, stream>>>(
      values, n_rows, kPartRows, n_parts, counts);
  check_launch("counting digits");
}

/// Turns counts into offsets, with a block per column and pass.
__global__ void __launch_bounds__(kDigits) offsets_kernel(std::uint32_t* counts) {
  __shared__ std::uint32_t warp_sums[kSortWarps];
  std::uint32_t& own = counts[static_cast<std::int64_t>(blockIdx.x) * kDigits + threadIdx.x];
  own = sum_in_front(own, warp_sums);
}

/// With kCounts: counts[column][piece] = keys of the piece that differ from the one in front of them. Else ranks, which
/// start from the sum of the counts of the pieces in front.
template <bool kCounts>
__global__ void __launch_bounds__(kPieceThreads)
    ranks_kernel(const std::uint64_t* keys, std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_pieces,
                 std::uint32_t* counts, std::uint32_t* ranks, std::int64_t stride) {
  const LongPiece piece = LongPiece::of_warp(n_rows, n_columns, n_pieces);
  if (!piece.is_there) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::uint64_t* const x = keys + piece.column * n_rows;
  std::uint32_t& count = counts[piece.column * n_pieces + piece.number];
  std::uint32_t rank = kCounts ? 0 : count;
  for (std::int64_t first = piece.begin; first < piece.end; first += 32) {
    const std::int64_t at = first + lane;
    const unsigned differs = __ballot_sync(0xffffffffU, at > 0 && at < piece.end && x[at] != x[at - 1]);
    if (!kCounts && at < piece.end) {
      ranks[piece.column * stride + at] =
          rank + static_cast<std::uint32_t>(__popc(differs & (0xffffffffU >> (31 - lane))));
    }
    rank += static_cast<std::uint32_t>(__popc(differs));
  }
  if (kCounts && lane == 0) count = rank;
}

}  // namespace

void LongSorter::rank_values(const std::uint64_t* keys, std::int64_t n_columns, std::uint32_t* ranks,
                             std::int64_t stride, cudaStream_t stream) {
  const std::int64_t n_pieces = pieces_of(n_rows_);
  const unsigned blocks = piece_blocks(n_columns, n_pieces);
  std::uint32_t* const counts = counts_.of(n_columns * n_pieces);
  ranks_kernel<true><<<blocks, kPieceThreads, 0, stream>>>(keys, n_rows_, n_columns, n_pieces, counts, ranks, stride);
  check_launch("counting values");
  carry_counts(counts, nullptr, n_pieces, n_columns, 1, stream);
  ranks_kernel<false><<<blocks, kPieceThreads, 0, stream>>>(keys, n_rows_, n_columns, n_pieces, counts, ranks, stride);
  check_launch("ranking values");
}

template <class T>
void LongSorter::reserve(std::int64_t n_columns) {
  using Item = SortItem<SortKey<T>>;
  static_assert(sizeof(uint4) % sizeof(Item) == 0);
  const std::int64_t n_items = checked::mul(2 * n_columns, n_rows_), n_of_word = sizeof(uint4) / sizeof(Item);
  // An earlier sort may still be at work, but freeing memory waits for the GPU.
  const auto grow = [](auto& buffer, std::int64_t size) {
    if (size <= buffer.size()) return;
    buffer = {};  // freed first: both at once might not fit
    buffer = std::remove_reference_t<decltype(buffer)>(size);
  };
  grow(items_, (n_items + n_of_word - 1) / n_of_word);
  grow(state_, sort_state_words(n_rows_, n_columns, sizeof(T)));
}

template <class T>
void LongSorter::sort(const T* values, std::int64_t n_columns, const std::uint8_t* classes, const LongOrders& orders,
                      std::int64_t first, cudaStream_t stream) {
  using Key = SortKey<T>;
  constexpr bool kIsWide = sizeof(Key) == 8;
  reserve<T>(n_columns);
  static_assert(kTileRows<Key> * static_cast<std::int64_t>(sizeof(SortItem<Key>)) == kSortTileBytes);
  const std::int64_t n_tiles = (n_rows_ + kTileRows<Key> - 1) / kTileRows<Key>;
  // All of this is 0 at first: tiles that passes have taken, counts of digits, and what tiles publish in each pass.
  std::uint32_t* const state = state_.data();
  std::uint32_t* const offsets = state + kPasses<Key>;
  std::uint32_t* const published = offsets + n_columns * kPasses<Key> * kDigits;
  const std::int64_t n_state = sort_state_words(n_rows_, n_columns, sizeof(T));
  check(cudaMemsetAsync(state, 0, static_cast<std::size_t>(n_state) * 4, stream), "clearing counts");
  count_digits(values, n_rows_, n_columns, offsets, stream);
  offsets_kernel<<<static_cast<unsigned>(n_columns * kPasses<Key>), kDigits, 0, stream>>>(offsets);
  check_launch("adding digits");
  const std::int64_t at = first * orders.stride, size = n_columns * n_rows_;
  auto* items = reinterpret_cast<SortItem<Key>*>(items_.data());
  auto* other = items + size;
  // The last pass reads what the one before it wrote, so the other half is free.
  Key* const keys = kIsWide ? reinterpret_cast<Key*>(other) : reinterpret_cast<Key*>(orders.ranks + at);
  SortPass<T> job{.values = values,
                  .n_rows = n_rows_,
                  .n_columns = n_columns,
                  .n_tiles = n_tiles,
                  .pass = 0,
                  .row_bits = bits_below_class(n_rows_, n_classes_),
                  .offsets = offsets,
                  .published = published,
                  .next = state,
                  .row_classes = classes,
                  .from = nullptr,
                  .to = items,
                  .keys = keys,
                  .key_stride = kIsWide ? n_rows_ : orders.stride,
                  .rows = orders.rows + at,
                  .classes = orders.classes + at,
                  .stride = orders.stride};
  for (; job.pass < kPasses<Key>; ++job.pass, ++job.next, job.published += n_columns * n_tiles * kDigits) {
    job.from = other;
    job.to = items;
    std::swap(items, other);
    if (job.pass == 0) {
      launch<T, true, false>(job, n_columns, stream);
    } else if (job.pass + 1 < kPasses<Key>) {
      launch<T, false, false>(job, n_columns, stream);
    } else {
      launch<T, false, true>(job, n_columns, stream);
    }
  }
  if constexpr (kIsWide) rank_values(keys, n_columns, orders.ranks + at, orders.stride, stream);
}

template void LongSorter::reserve<float>(std::int64_t);
template void LongSorter::reserve<double>(std::int64_t);
template void LongSorter::reserve<std::int32_t>(std::int64_t);
template void LongSorter::sort<float>(const float*, std::int64_t, const std::uint8_t*, const LongOrders&, std::int64_t,
                                      cudaStream_t);
template void LongSorter::sort<double>(const double*, std::int64_t, const std::uint8_t*, const LongOrders&,
                                       std::int64_t, cudaStream_t);
template void LongSorter::sort<std::int32_t>(const std::int32_t*, std::int64_t, const std::uint8_t*, const LongOrders&,
                                             std::int64_t, cudaStream_t);

}  // namespace stope::discretize::cuda
