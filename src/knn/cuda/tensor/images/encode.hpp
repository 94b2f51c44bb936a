// What the tensor filter sees of rows: images in halves or bytes, and how far rounding may have moved the rows.
//
// The host says what an image has in its columns (cuda_abi::ImageColumn). Training images lie in tiles of kTileRows
// rows, in the layout that the scan's bulk copies and matrix instructions need. Query images lie row by row, and also
// in tiles if they are wide.
//
// Two bytes take the place of a half. An instruction takes 32 bytes of a row, 16 halves or 32 bytes, and its threads
// have the same 4 of these bytes in either case. So the `width` of an image is counted in halves everywhere. Only the
// code that makes, multiplies and adds the numbers knows which they are.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/host_device.hpp"
#include "knn/cuda_abi.hpp"

namespace stope::knn::cuda {

inline constexpr int kTileRows = 128;      ///< training rows in a tile
inline constexpr int kBlockQueries = 256;  ///< query rows of one block of threads in the scan
inline constexpr int kMostWidth = 4096;    ///< columns of the widest image

/// Columns of a panel. For images in tiles, width is 32, 96 or a multiple of 64.
STOPE_HD constexpr int panel_columns(int width) {
  return width % 64 == 0 ? 64 : 32;
}

/// A score of halves has an error of at most kAccumulation * (width + 2) * the largest possible partial sum
/// (docs/numerics/filter.md).
inline constexpr double kAccumulation = 0x1p-22;

/// A row whose |image|^2 exceeds this has no bound: images are near 1, and the shift of the scores has to fit a half.
inline constexpr float kMostTrainNorm = 0x1p14F, kMostQueryNorm = 0x1p15F;

/// Starts of rows that do not exist, and of rows that are always listed, where starts are stored apart from the images.
/// In the images these starts are infinities.
inline constexpr float kNever = -3e38F, kAlways = 3e38F;

/// These starts for images in bytes, whose scores are whole numbers. Every other score, shifted, is in (0,
/// kByteScores]: exact as a float (docs/numerics/filter.md, "Bytes on matrix units").
inline constexpr int kNeverOfBytes = -(1 << 30), kAlwaysOfBytes = 1 << 30;
inline constexpr int kMostByteWidth = 128;  ///< in halves
inline constexpr int kByteShift = 6 * (1 << 20) + 1, kByteScores = kByteShift + (1 << 21);
static_assert(kByteShift > 2 * kMostByteWidth * 128 * 128 * 3 / 2 && kByteScores <= (1 << 23) + 1);

/// Returns a score of images in bytes in the form that the lists hold.
STOPE_HD constexpr float score_of_bytes(int sum) {
  if (sum > kAlwaysOfBytes / 2) return kAlways;
  return sum < kNeverOfBytes / 2 ? kNever : static_cast<float>(sum);
}

/// Where the start of a training row's score, -|t|^2 / 2, is stored: in two columns of the images, or apart from them.
struct StartPlace {
  int column;  ///< the first of the two; negative: it goes to `starts`
  int width;   ///< width of an image
  __half* tiles;
  float* starts;
  bool bytes;  ///< starts are whole numbers, shifted, and lie in `starts` as integers
};

/// A column of an image that holds only numbers, none of them masked, and factors (plain_columns.hpp).
struct PlainColumn {
  double centre, scale;  ///< for a number; any other column has its factor in `scale`
};

/// Images in bytes are whole steps from the centres. Those of queries are multiplied by `factor`, so that squares of
/// distances are `factor` times as large. With a factor of 2, no half of a square is lost.
struct ByteSteps {
  int factor = 0;  ///< 1 or 2; 0: images are halves
  int least = 0, most = 0;
  double step = 1.0, scale = 1.0;  ///< powers of two; each is 1 / the other
};

/// Rows to be encoded, and where their images go. The arrays have room for the rows padded to whole tiles or blocks of
/// kBlockQueries.
struct EncodeJob {
  const double* rows;
  std::int64_t first, n;   ///< rows [first, first + n) of the images; `rows` points to the first of them
  std::int64_t n_padded;   ///< images up to here are written; those from first + n on belong to no row. It is a
                           ///< multiple of kTileRows, as `first` is
  std::int64_t row_width;  ///< doubles a row
  const cuda_abi::ImageColumn* columns;
  int n_columns;
  int width;  ///< width of an image
  ByteSteps bytes;
  double n_to_share;         ///< if two rows need an attribute that both have: the number of attributes; else 0
  bool unit_rows;            ///< the numbers of a row are scaled to length 1
  const PlainColumn* plain;  ///< one for each column of the image; null: images hold other things, too
  const int* plain_sources;  ///< the source of each number; negative: the column is no number
  __half* images;            ///< row by row; null for training rows
  __half* tiles;             ///< null: no tiles are wanted
  StartPlace start;          ///< for training rows
  double* squares;           ///< for queries: sum of squares of the numbers that are not masked
  float* norms;              ///< sum of squares of all numbers, rounded up
  float* residuals;          ///< how far rounding moved the row, rounded up; NaN: no image bounds the row
};

void launch_encode_train(const EncodeJob& job, cudaStream_t stream);
void launch_encode_queries(const EncodeJob& job, cudaStream_t stream);

/// Rows whose residual exceeds `most_residual` become always listed, like those that have no bound.
struct StartJob {
  const float* norms;
  const float* residuals;
  std::int64_t n;
  float most_residual;
  StartPlace start;
  unsigned* largest_norm;        ///< bits of the largest norm of a row that is not always listed; must be 0 before
  unsigned long long* n_always;  ///< must be 0 before
};
void launch_starts(const StartJob& job, cudaStream_t stream);

/// Adds to the scores of a batch of queries a shift that makes all of them positive. `shift` holds it afterwards.
struct ShiftJob {
  const float* query_norms;
  const float* query_residuals;
  std::int64_t n_queries;
  double largest_train_norm;
  double nominal;  ///< the sum of the mismatches' weights, if values may be missing; else 0
  bool masks;      ///< whether values may be missing
  int width;
  int column;  ///< column of the query images that gets the shift; negative: it is added to `starts`
  __half* images;
  __half* tiles;  ///< null: no tiles are wanted
  const float* starts;
  float* shifted_starts;
  std::int64_t n;  ///< number of starts
  double* shift;   ///< the shift, then whether it differs from the one before; 0 before the first batch
};
void launch_shift(const ShiftJob& job, cudaStream_t stream);

}  // namespace stope::knn::cuda
