#include "gram/rows.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/huge_pages.hpp"
#include "base/memory.hpp"
#include "base/thread_pool.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

class MatrixRows final : public RowSource {
 public:
  explicit MatrixRows(ArrayView matrix) : matrix_(std::move(matrix)) {}

  std::int64_t n_rows() const override { return matrix_.n_rows; }
  std::int64_t n_columns() const override { return matrix_.n_columns; }
  ElementType dtype() const override { return matrix_.type; }
  bool in_place() const override { return true; }
  std::int64_t row_stride() const override { return matrix_.row_stride; }
  const void* rows(std::int64_t first, std::int64_t, void*) const override {
    return static_cast<const char*>(matrix_.data) + first * matrix_.row_stride * size_of(matrix_.type);
  }

 private:
  ArrayView matrix_;
};

ArrayView checked_matrix(const ArrayView& array) {
  if (array.n_rows < 1 || array.n_columns < 1) {
    throw Error(ErrorCode::invalid_argument, "a matrix of " + std::to_string(array.n_rows) + " rows and " +
                                                 std::to_string(array.n_columns) + " columns: both must be at least 1");
  }
  if (is_integer(array.type)) {
    throw Error(ErrorCode::unsupported, "a matrix of " + std::string(to_string(array.type)) +
                                            ": convert it to float32 or float64 once, since every product reads it");
  }
  if (array.gpu >= 0) {
    throw Error(ErrorCode::unsupported, "the matrix is in the memory of GPU " + std::to_string(array.gpu) +
                                            ": it must be in the host's memory");
  }
  return checked_array(array, "the matrix");
}

// Copies a matrix by rows. A tile of 64 x 16 doubles fits the first-level cache, whichever side is contiguous.
template <class T>
void copy_rows(const ArrayView& from, T* to, const RunOptions& run) {
  constexpr std::int64_t kTileRows = 64, kTileColumns = 16;
  const auto* const values = static_cast<const T*>(from.data);
  ThreadPool pool(run.threads);
  pool.parallel_for(checked::ceil_div(from.n_rows, kTileRows), run.cancel, [&](std::int64_t tile, int) {
    const std::int64_t begin = tile * kTileRows, end = std::min(from.n_rows, begin + kTileRows);
    for (std::int64_t r = begin; from.column_stride == 1 && r < end; ++r) {
      std::copy_n(values + r * from.row_stride, from.n_columns, to + r * from.n_columns);
    }
    if (from.column_stride == 1) return;
    for (std::int64_t first = 0; first < from.n_columns; first += kTileColumns) {
      const std::int64_t last = std::min(from.n_columns, first + kTileColumns);
      for (std::int64_t r = begin; r < end; ++r) {
        for (std::int64_t c = first; c < last; ++c) {
          to[r * from.n_columns + c] = values[r * from.row_stride + c * from.column_stride];
        }
      }
    }
  });
}

ArrayView copied_by_rows(const ArrayView& matrix, const RunOptions& run) {
  const std::int64_t bytes = checked::mul(checked::mul(matrix.n_rows, matrix.n_columns), size_of(matrix.type));
  require_memory("a copy of the matrix (a row-major one with an owner is not copied) needs", bytes, run);
  std::shared_ptr<void> memory = allocate_shared_bytes(bytes);
  prefer_huge_pages(memory.get(), static_cast<std::size_t>(bytes));
  if (matrix.type == ElementType::float32) {
    copy_rows(matrix, static_cast<float*>(memory.get()), run);
  } else {
    copy_rows(matrix, static_cast<double*>(memory.get()), run);
  }
  ArrayView copy{memory.get(), matrix.type, matrix.n_rows, matrix.n_columns, matrix.n_columns};
  copy.owner = std::move(memory);
  return copy;
}

}  // namespace

std::shared_ptr<const RowSource> make_row_source(const ArrayView& matrix, Reads reads, const RunOptions& run) {
  const ArrayView checked = checked_matrix(matrix);
  const bool row_major = checked.column_stride == 1 && checked.row_stride >= checked.n_columns;
  const bool there = reads == Reads::during_call || checked.owner != nullptr;
  return std::make_shared<MatrixRows>(row_major && there ? checked : copied_by_rows(checked, run));
}

}  // namespace stope::gram
