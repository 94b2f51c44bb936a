// The inner loops that make images of rows (row_image.hpp) and round them to whole steps (byte_steps.hpp), compiled for
// each instruction set. They use plain arrays only, so that nothing of the standard library is compiled with
// instructions that a machine may lack.
#pragma once

#include <cstdint>

#include "knn/filter/scan/scan.hpp"
#include "knn/measure/form.hpp"

namespace stope::knn {

/// How a value becomes a whole number: round(value * steps + centre), cut off at least and most.
struct Rounding {
  float steps, centre, least, most;
};

/// How numbers add to a row's residual (add_residual). A missing value adds nothing, but with `squares_of_all` it
/// leaves the row without a bound. `none`: no kernel makes these images.
enum class ResidualSum { none, squares, squares_of_all, absolutes, maximum };

/// Consecutive numbers of a row. Their images are (row[c] - centres[c]) * scales[c] * factor.
struct NumberRun {
  const double* centres;
  const double* scales;
  std::int64_t n;
  double factor;
  ResidualSum sum;
};

struct EncodeKernels {
  /// Rows of fewer numbers become images faster one number at a time (put_numbers).
  std::int64_t least_numbers;
  /// Writes the images of a run, and returns what they add to the row's residual (add_residual). NaN: no image bounds
  /// the row. The run is one from the rows of a table: it is read ahead of.
  double (*numbers)(const NumberRun& run, const double* row, float* images);
  /// Does so for n rows of few numbers, side by side: images[c * stride + row], and what each row's numbers add up to
  /// (infinite or NaN: no image bounds the row). Images have room for a multiple of 8 rows.
  void (*few_numbers)(const NumberRun& run, const double* rows, std::int64_t n, float* images, std::int64_t stride,
                      double* residuals);
  /// Returns 1 / |x| of a row with weighted columns, 0 for a row of zeros. NaN: no image bounds the row.
  double (*unit_factor)(const NumberRun& run, const double* row);
  /// Writes images of 16 rows, row-major, column by column: columns[c * kScanBlockRows + i].
  void (*transpose)(const float* images, std::int64_t n_columns, float* columns);
  /// Rounds a block of images for products, in bytes or nibbles, and adds up per row the squares that `starts` need
  /// (derived_images.cpp) and the squared errors.
  void (*byte_steps)(const float* block, std::int64_t n_columns, const Rounding& rounding, std::uint8_t* bytes,
                     std::int32_t* squares, float* errors);
  void (*nibble_steps)(const float* block, std::int64_t n_columns, const Rounding& rounding, std::uint8_t* bytes,
                       std::int32_t* squares, float* errors);
  /// Does so for differences, in groups of eight bytes, and adds up the errors. A missing value is kMissingByte, and
  /// the last group is filled up with 128.
  void (*difference_steps)(const float* block, std::int64_t n_columns, const Rounding& rounding, std::uint8_t* bytes,
                           float* errors);
};

inline constexpr int kTransposedRows = 16;

namespace scalar {
extern const EncodeKernels kEncodeKernels;
}
namespace avx2 {
extern const EncodeKernels kEncodeKernels;
}
namespace avx512 {
extern const EncodeKernels kEncodeKernels;
}

}  // namespace stope::knn
