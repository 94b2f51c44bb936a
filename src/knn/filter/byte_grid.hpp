// Tables of small whole numbers (bytes, counts, one-hot): their rows are bytes without any rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "knn/measure/measure.hpp"

namespace stope::knn {

/// A value of column c is centres[c] + n * step, |n| small. Every such sum is a double, without rounding.
struct ByteGrid {
  double step = 1.0;  ///< a power of two
  std::vector<double> centres;
  /// Bytes of queries are so many times n: 2, where n is small, so that twice a product less a square is a whole
  /// number.
  int factor = 1;

  /// Of n: those of factor 1 are all that a signed byte has.
  double least() const { return factor == 1 ? -128.0 : -63.0; }
  double most() const { return factor == 1 ? 127.0 : 63.0; }
  bool has(const double* row) const;
};

/// Columns that the grid of a table can have.
inline constexpr std::int64_t kMostGridColumns = 256;

/// The grid of some rows, whose ranges over the whole table it takes from the attributes; nothing if they have none.
/// Other rows of the table need not be on it. The attributes are numbers of weight 1, and no row lacks one.
std::optional<ByteGrid> find_byte_grid(const std::vector<double>& rows, const std::vector<Attribute>& attributes);

}  // namespace stope::knn
