// What the tensor filter sees of rows: images in half precision or in bytes, and what their rounding may have moved.
//
// What an image has in its columns the host says (cuda_abi::ImageColumn). Training images lie in tiles of kTileRows
// rows as the scan's bulk copies and matrix instructions want them, query images row by row, and in tiles too where
// they are wide.
//
// Two bytes take the place of a half: an instruction takes 32 bytes of a row, 16 halves or 32 bytes, and its threads
// have the same 4 of them. So the `width` of an image is everywhere in halves, and nothing but what makes, multiplies
// and adds the numbers knows which they are.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

inline constexpr int kTileRows = 128;      ///< training rows a tile
inline constexpr int kBlockQueries = 256;  ///< query rows of one block of the scan
inline constexpr int kMostWidth = 4096;    ///< columns of the widest image

/// Of images in tiles: width is 32, 96 or a multiple of 64.
STOPE_HD constexpr int panel_columns(int width) {
  return width % 64 == 0 ? 64 : 32;
}

/// The scores of halves are right but for an error of at most kAccumulation * (width + 2) * the largest that a partial
/// sum can be (docs/numerics/filter.md).
inline constexpr double kAccumulation = 0x1p-22;

/// Rows whose |image|^2 is above this have no bound: images are near 1, and the scores' shift has to fit a half.
inline constexpr float kMostTrainNorm = 0x1p14F, kMostQueryNorm = 0x1p15F;

/// Starts of rows that are none, and of rows that are always listed, where they stand apart from the images; in the
/// images, infinities.
inline constexpr float kNever = -3e38F, kAlways = 3e38F;

/// The same of images in bytes, whose scores are whole numbers. Every other score, shifted, is in (0, kByteScores]:
/// exact as a float (docs/numerics/filter.md, "Bytes on matrix units").
inline constexpr int kNeverOfBytes = -(1 << 30), kAlwaysOfBytes = 1 << 30;
inline constexpr int kMostByteWidth = 128;  ///< in halves
inline constexpr int kByteShift = 6 * (1 << 20) + 1, kByteScores = kByteShift + (1 << 21);
static_assert(kByteShift > 2 * kMostByteWidth * 128 * 128 * 3 / 2 && kByteScores <= (1 << 23) + 1);

/// A score of images in bytes as the lists have it.
STOPE_HD constexpr float score_of_bytes(int sum) {
  if (sum > kAlwaysOfBytes / 2) return kAlways;
  return sum < kNeverOfBytes / 2 ? kNever : static_cast<float>(sum);
}

/// Where the score of a training row starts, -|t|^2 / 2: in two columns of the images, or apart.
struct StartPlace {
  int column;  ///< the first of the two; negative: it goes to `starts`
  int width;   ///< of an image
  __half* tiles;
  float* starts;
  bool bytes;  ///< starts are whole numbers, shifted, and lie in `starts` as they are
};

/// A column of an image that has nothing but numbers, none of them masked, and factors (plain_columns.hpp).
struct PlainColumn {
  double centre, scale;  ///< of a number; of any other column the factor is the scale
};

/// Images in bytes are whole steps from the centres. Queries have them `factor` times, and squares of distances are
/// `factor` times as large, so that with 2 no half of a square is lost.
struct ByteSteps {
  int factor = 0;  ///< 1 or 2; 0: images are of halves
  int least = 0, most = 0;
  double step = 1.0, scale = 1.0;  ///< powers of two, one over the other
};

/// Rows to be encoded, and where their images go. Arrays are as long as the rows padded to whole tiles or blocks.
struct EncodeJob {
  const double* rows;
  std::int64_t first, n;   ///< rows [first, first + n) of the images; `rows` points to the first of them
  std::int64_t n_padded;   ///< images up to here are written: those beyond first + n are of no row
  std::int64_t row_width;  ///< doubles a row
  const cuda_abi::ImageColumn* columns;
  int n_columns;
  int width;  ///< of an image
  ByteSteps bytes;
  double n_to_share;         ///< attributes; two rows need one that both have. 0: they need none
  bool unit_rows;            ///< the numbers of a row are scaled to length 1
  const PlainColumn* plain;  ///< as many as the image has columns; null: other things are in the images
  const int* plain_sources;  ///< the number of a column; negative: it is none
  __half* images;            ///< row by row; null for training rows
  __half* tiles;             ///< null: not wanted
  StartPlace start;          ///< of training rows
  double* squares;           ///< of queries: of the numbers that are not masked
  float* norms;              ///< the same of all numbers, rounded up
  float* residuals;          ///< how far rounding moved the row, rounded up; NaN: no image can bound it
};

void launch_encode_train(const EncodeJob& job, cudaStream_t stream);
void launch_encode_queries(const EncodeJob& job, cudaStream_t stream);

/// Rows whose residual exceeds `most_residual` are always listed, too, as those are that have no bound.
struct StartJob {
  const float* norms;
  const float* residuals;
  std::int64_t n;
  float most_residual;
  StartPlace start;
  unsigned* largest_norm;        ///< bits of the largest norm of a row that is not always listed; 0 beforehand
  unsigned long long* n_always;  ///< 0 beforehand
};
void launch_starts(const StartJob& job, cudaStream_t stream);

/// Adds to the scores of a batch of queries what makes every one of them positive, as `shift` says afterwards.
struct ShiftJob {
  const float* query_norms;
  const float* query_residuals;
  std::int64_t n_queries;
  double largest_train_norm;
  double nominal;  ///< the sum of the mismatches' weights, if values may be missing; else 0
  bool masks;      ///< whether values may be missing
  int width;
  int column;  ///< of the query images that gets the shift; negative: it is added to `starts`
  __half* images;
  __half* tiles;  ///< null: not wanted
  const float* starts;
  float* shifted_starts;
  std::int64_t n;  ///< starts
  double* shift;   ///< the shift, then whether it is another one than before; 0 before the first batch
};
void launch_shift(const ShiftJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
