// Kernels that make images of rows of numbers only, in halves or in bytes.
//
// To read the rows once should take longer than all else. So a lane asks for the numbers of all its rows before it
// makes the first image, keeps the addresses from panel to panel, and has no branch for what is rare.
#include "knn/cuda/tensor/images/plain_images.hpp"

#include <type_traits>

#include "device/cuda/check.hpp"
#include "knn/cuda/tensor/images/row_summary.cuh"

namespace stope::knn::cuda {
namespace {

/// Two neighbouring columns of images in halves: a word.
struct HalfWord {
  using Sums = PlainSums;
  static constexpr int kNumbers = 2;
  double centre[kNumbers], scale[kNumbers];
  int source[kNumbers];
  std::uint32_t numbers = 0, factors = 0;  // the halves that are numbers, and those that are not

  __device__ HalfWord(const EncodeJob& job, int column) {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const PlainColumn own = job.plain[column + i];
      centre[i] = own.centre;
      scale[i] = own.scale;
      source[i] = job.plain_sources[column + i];
      if (source[i] >= 0) {
        numbers |= 0xffffU << (16 * i);
      } else {
        factors |= static_cast<std::uint32_t>(__half_as_ushort(__double2half(own.scale))) << (16 * i);
      }
    }
  }
  /// A column that is no number comes with 0, which adds nothing to the sums.
  __device__ std::uint32_t image(const double (&values)[kNumbers], Sums& sums) const {
    const __half low = sums.add(values[0], centre[0], scale[0]), high = sums.add(values[1], centre[1], scale[1]);
    return (word_of({low, high}) & numbers) | factors;
  }
};

/// Four neighbouring columns of bytes, in the place of two halves, `column` and the next.
template <bool kTrain>
struct ByteWord {
  using Sums = ByteSums;
  static constexpr int kNumbers = 4;
  double centre[kNumbers];
  int source[kNumbers];
  const ByteSteps* steps;

  __device__ ByteWord(const EncodeJob& job, int column) : steps(&job.bytes) {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      centre[i] = job.plain[2 * column + i].centre;
      source[i] = job.plain_sources[2 * column + i];
    }
  }
  __device__ std::uint32_t image(const double (&values)[kNumbers], Sums& sums) const {
    std::uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const int image = source[i] < 0 ? 0 : sums.add(values[i], centre[i], *steps);
      word |= (static_cast<std::uint32_t>(kTrain ? image : steps->factor * image) & 255U) << (8 * i);
    }
    return word;
  }
};

/// A lane's rows of a group of neighbouring rows, which lie in one tile: where their numbers are, and where their words
/// go. Rows that do not exist have an image of zeros. `own`: the lane's first row in the group; its next is kStep
/// further.
template <bool kTrain, int kStep>
struct LaneRows {
  const double* values[kRowsOfLane];
  __half* tiles[kRowsOfLane];
  __half* images[kTrain ? 1 : kRowsOfLane];
  std::uint32_t exist[kRowsOfLane];  // all bits or none

  __device__ LaneRows(const EncodeJob& job, std::int64_t group, int own, int column) {
    const std::int64_t left = job.first + job.n - group;
    const int n = left < kTileRows ? static_cast<int>(left) : kTileRows, row_width = static_cast<int>(job.row_width);
    const double* const rows = job.rows + (left > 0 ? group - job.first : 0) * job.row_width;
    __half* const tile = job.tiles + group / kTileRows * kTileRows * job.width;
    __half* const image = job.images + group * job.width + column;
    const int in_tile = static_cast<int>(group % kTileRows);
#pragma unroll
    for (int s = 0; s < kRowsOfLane; ++s) {
      const int row = own + s * kStep;
      exist[s] = row < n ? ~0U : 0U;
      values[s] = rows + (row < n ? row * row_width : 0);
      tiles[s] = tile + place_in_tile(in_tile + row, column, job.width);
      if constexpr (!kTrain) images[s] = image + row * job.width;
    }
  }
  __device__ void store(int s, std::uint32_t word, bool in_tiles) {
    if constexpr (!kTrain) store_word(images[s], word);
    if (in_tiles) store_word(tiles[s], word);
  }
  /// Moves on by 64 columns: a panel, or two of 32 columns.
  __device__ void next_panel() {
#pragma unroll
    for (int s = 0; s < kRowsOfLane; ++s) {
      tiles[s] += kTileRows * 64;
      if constexpr (!kTrain) images[s] += 64;
    }
  }
};

/// A warp takes kRowsOfLane rows at a time, or twice as many if images have 32 columns. A lane has one word of each row
/// in a panel, so that a warp reads and writes whole lines.
template <bool kTrain, class Word, int kLanes>
__global__ void __launch_bounds__(kEncodeThreads) plain_kernel(const EncodeJob job) {
  constexpr int kRowsAStep = 32 / kLanes, kRows = kRowsOfLane * kRowsAStep;
  const int lane = static_cast<int>(threadIdx.x) % kLanes, side = static_cast<int>(threadIdx.x) % 32 / kLanes;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * (kEncodeThreads / 32);
  const std::int64_t warp = static_cast<std::int64_t>(blockIdx.x) * (kEncodeThreads / 32) + threadIdx.x / 32;
  const bool one_panel = job.width <= 2 * kLanes, in_tiles = job.tiles != nullptr, has_rows = job.n > 0;
  Word word(job, 2 * lane);
  static_assert(kTileRows % kRows == 0);
  for (std::int64_t group = job.first + warp * kRows; group < job.n_padded; group += warps * kRows) {
    LaneRows<kTrain, kRowsAStep> rows(job, group, side, 2 * lane);
    typename Word::Sums gathered[kRowsOfLane];
    for (int c = 2 * lane; c < job.width; c += 2 * kLanes) {
      if (!one_panel) word = Word(job, c);
      double values[kRowsOfLane][Word::kNumbers];
#pragma unroll
      for (int s = 0; s < kRowsOfLane; ++s) {
#pragma unroll
        for (int i = 0; i < Word::kNumbers; ++i) {
          values[s][i] = word.source[i] >= 0 && has_rows ? __ldcs(rows.values[s] + word.source[i]) : 0.0;
        }
      }
#pragma unroll
      for (int s = 0; s < kRowsOfLane; ++s) {
        rows.store(s, word.image(values[s], gathered[s]) & rows.exist[s], in_tiles);
      }
      rows.next_panel();
    }
#pragma unroll
    for (int s = 0; s < kRowsOfLane; ++s) {
      if (rows.exist[s] == 0) gathered[s] = {};
    }
    Gathered sums = add_up<kLanes>(gathered);
    if constexpr (std::is_same_v<typename Word::Sums, ByteSums>) {
      sums.errors *= job.bytes.factor;
      sums.squares *= job.bytes.factor;
    }
    __syncwarp();  // the columns of starts have been zeroed, before the starts are written
    const std::int64_t row = group + side + step_of_lane<kLanes>() * kRowsAStep;
    if (lane % (kLanes / kRowsOfLane) == 0) write_summary<kTrain>(job, row, sums);
  }
}

template <bool kTrain, class Word, int kLanes>
void launch_lanes(const EncodeJob& job, cudaStream_t stream) {
  plain_kernel<kTrain, Word, kLanes><<<encode_blocks(job, kLanes), kEncodeThreads, 0, stream>>>(job);
  stope::cuda::check_launch("making images");
}

template <bool kTrain>
void launch(const EncodeJob& job, cudaStream_t stream) {
  if (job.bytes.factor != 0) {
    launch_lanes<kTrain, ByteWord<kTrain>, 32>(job, stream);
  } else if (job.width == 32) {
    launch_lanes<kTrain, HalfWord, 16>(job, stream);
  } else {
    launch_lanes<kTrain, HalfWord, 32>(job, stream);
  }
}

}  // namespace

void launch_plain_train(const EncodeJob& job, cudaStream_t stream) {
  launch<true>(job, stream);
}

void launch_plain_queries(const EncodeJob& job, cudaStream_t stream) {
  launch<false>(job, stream);
}

}  // namespace stope::knn::cuda
