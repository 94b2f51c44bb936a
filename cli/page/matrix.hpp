// A confusion matrix: a row for each true class, a column for each predicted one. A cell is as dark as its share of the
// row, and says rows and share in figures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "page/figure.hpp"

namespace stope::cli::page {

struct Matrix {
  std::vector<std::string> truths, predictions;   ///< names; the same order, predictions may have one more
  std::vector<std::vector<std::int64_t>> counts;  ///< [truth][prediction]
};

/// Fills the figure's size.
void write_matrix(Markup& out, Figure figure, const Matrix& matrix, const DataTable& numbers);

}  // namespace stope::cli::page
