// What the tensor filter sees of rows: images in half precision, and what their rounding may have moved.
//
// An image column is (row[source] - centre) * scale, rounded to half. Training images lie in tiles of kTileRows rows as
// the scan's bulk copies and matrix instructions want them, query images row by row; either has kWidth columns, zeros
// beyond those there are.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace stope::knn::cuda {

inline constexpr int kTileRows = 128;      ///< training rows a tile
inline constexpr int kBlockQueries = 256;  ///< query rows of one block of the scan
inline constexpr int kMostWidth = 128;     ///< columns of the widest image

/// The scores of the matrix units are <q,t> - |t|^2 / 2 with an error of at most
/// kAccumulation * (width + 2) * (|q|^2 / 2 + |t|^2 + shift) (docs/numerics/filter.md).
inline constexpr double kAccumulation = 0x1p-22;

struct ImageColumn {
  std::int32_t source;
  double centre, scale;
};

/// Rows to be encoded, and where their images go. Arrays are as long as the rows padded to whole tiles or blocks.
struct EncodeJob {
  const double* rows;
  std::int64_t first, n;   ///< rows [first, first + n) of the images; `rows` points to the first of them
  std::int64_t n_padded;   ///< images up to here are written: those beyond first + n are of no row
  std::int64_t row_width;  ///< doubles a row
  const ImageColumn* columns;
  int n_columns;
  int width;  ///< of an image: 64 or 128
  __half* images;
  double* squares;   ///< |image|^2
  float* residuals;  ///< how far rounding moved the row, rounded up; NaN: no image can bound it
};

void launch_encode_train(const EncodeJob& job, cudaStream_t stream);
void launch_encode_queries(const EncodeJob& job, cudaStream_t stream);

/// Where the accumulators of the scan start, per training row: `lowest` makes scores that are never above, `highest`
/// scores that are never below <q,t> - |t|^2 / 2, but for the query's part of the error. Rows whose residual exceeds
/// `most_residual` are always listed: their highest score is kAlways, their lowest kNever, as that of no row.
struct StartJob {
  const double* squares;
  const float* residuals;
  std::int64_t n, n_padded;
  int width;
  float most_residual;
  float* lowest;
  float* highest;
  unsigned long long* largest_square;  ///< bits of the largest |t|^2 of a row that is not always listed; 0 beforehand
  unsigned long long* n_always;        ///< 0 beforehand
};
void launch_starts(const StartJob& job, cudaStream_t stream);

/// Adds to the starts what makes every score of a batch of queries positive: |q| |t| + |t|^2 / 2 at most, as `shift`
/// says afterwards.
struct ShiftJob {
  const double* query_squares;
  std::int64_t n_queries;
  double largest_train_square;
  const float* lowest;
  const float* highest;
  std::int64_t n;  ///< starts
  float* shifted_lowest;
  float* shifted_highest;
  double* shift;
};
void launch_shift(const ShiftJob& job, cudaStream_t stream);

inline constexpr float kNever = -3e38F, kAlways = 3e38F;

}  // namespace stope::knn::cuda
