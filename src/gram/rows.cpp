#include "gram/rows.hpp"

#include <string>

#include "base/checked.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

class MatrixRows final : public RowSource {
 public:
  explicit MatrixRows(const MatrixView& matrix) : matrix_(matrix) {
    if (matrix_.row_stride == 0) matrix_.row_stride = matrix_.n_columns;
    if (matrix.n_rows < 1 || matrix.n_columns < 1) {
      throw Error(ErrorCode::invalid_argument, "a matrix of " + std::to_string(matrix.n_rows) + " rows and " +
                                                   std::to_string(matrix.n_columns) +
                                                   " columns: both must be at least 1");
    }
    if (matrix_.row_stride < matrix_.n_columns) {
      throw Error(ErrorCode::invalid_argument, "rows that are " + std::to_string(matrix_.row_stride) +
                                                   " elements apart cannot have " + std::to_string(matrix_.n_columns) +
                                                   " columns");
    }
    if (matrix_.values == nullptr) throw Error(ErrorCode::invalid_argument, "the matrix has no values");
    checked::mul(checked::mul(matrix_.n_rows, matrix_.row_stride), element_bytes());  // so that offsets do not wrap
  }

  std::int64_t n_rows() const override { return matrix_.n_rows; }
  std::int64_t n_columns() const override { return matrix_.n_columns; }
  Dtype dtype() const override { return matrix_.dtype; }
  bool in_place() const override { return true; }
  std::int64_t row_stride() const override { return matrix_.row_stride; }
  const void* rows(std::int64_t first, std::int64_t, void*) const override {
    return static_cast<const char*>(matrix_.values) + first * matrix_.row_stride * element_bytes();
  }

 private:
  std::int64_t element_bytes() const { return bytes_of(matrix_.dtype); }

  MatrixView matrix_;
};

}  // namespace

std::shared_ptr<const RowSource> make_row_source(const MatrixView& matrix) {
  return std::make_shared<MatrixRows>(matrix);
}

}  // namespace stope::gram
