// Turns tables of small whole numbers (bytes, counts, one-hot) into bytes without any rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "knn/measure/measure.hpp"

namespace stope::knn {

/// A value of column c is centres[c] + n * step with a small |n|. Every such sum is a double, without rounding.
struct ByteGrid {
  double step = 1.0;  ///< a power of two
  std::vector<double> centres;
  /// A query's bytes are n times this. It is 2 where n is small: twice a product less a square is then a whole number.
  int factor = 1;

  /// The least n. With factor 1, n takes the whole range of a signed byte.
  double least() const { return factor == 1 ? -128.0 : -63.0; }
  double most() const { return factor == 1 ? 127.0 : 63.0; }
  bool has(const double* row) const;
};

/// Columns that the grid of a table can have.
inline constexpr std::int64_t kMostGridColumns = 256;

/// Finds the grid of some rows; nothing if they have none. Ranges over the whole table come from the attributes, but
/// other rows of the table need not be on the grid. The attributes are numbers of weight 1, and no row lacks one.
std::optional<ByteGrid> find_byte_grid(const std::vector<double>& rows, const std::vector<Attribute>& attributes);

}  // namespace stope::knn
