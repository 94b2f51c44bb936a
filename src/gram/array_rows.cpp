#include "gram/array_rows.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "base/array.hpp"
#include "base/checked.hpp"
#include "base/row_sums.hpp"
#include "gram/column_kernels.hpp"
#include "gram/cross_product.hpp"
#include "gram/numeric_columns.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kRows = 64;  // rows at a time: with 256 columns, 128 kB of a second-level cache

// The array, whose rows are the columns of this matrix.
template <class T>
class ArrayPanel final : public PanelSource {
 public:
  ArrayPanel(const ArrayView& array, const RowTerms& terms)
      : array_(array), missing_(terms.minus.size(), std::numeric_limits<double>::quiet_NaN()) {
    terms_ = {terms.minus.data(), terms.times.data(), missing_.data()};
  }

  std::int64_t width() const override { return array_.n_rows; }

  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override {
    const std::int64_t first = tile * kTile, n = std::min(kTile, width() - first);
    if (n < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
    turn(first, n, begin, end, out, kTile);
    const double* columns[kLeafRows];
    for (std::int64_t c = begin; c < end; ++c) columns[c - begin] = out + (c - begin) * kTile;
    column_kernels().of_double.by_columns(columns, end - begin, 0, n, from(begin), nullptr, out, kTile);
  }

  // Computes the products of rows [first, first + n), n <= kRows, with x.
  void multiply(std::int64_t first, std::int64_t n, const double* x, double* scratch, double* sums) const {
    const std::int64_t n_columns = array_.n_columns;
    double leaf[kRows];
    SumTree groups(n);
    std::fill_n(sums, n, 0.0);
    for (std::int64_t begin = 0; begin < n_columns; begin += kLeafRows) {
      const std::int64_t end = std::min(begin + kLeafRows, n_columns);
      turn(first, n, begin, end, scratch, kRows);
      const double* columns[kLeafRows];
      for (std::int64_t c = begin; c < end; ++c) columns[c - begin] = scratch + (c - begin) * kRows;
      std::fill_n(leaf, n, 0.0);
      column_kernels().of_double.add_products(columns, end - begin, 0, n, from(begin), x + begin, leaf);
      for (std::int64_t r = 0; r < n; ++r) sums[r] += leaf[r];
      if (n_columns <= kGroupRows || (end % kGroupRows != 0 && end < n_columns)) continue;
      groups.push(sums);
      std::fill_n(sums, n, 0.0);
    }
    if (n_columns > kGroupRows) std::copy_n(groups.finish(), n, sums);
  }

 private:
  Terms from(std::int64_t column) const {
    return {terms_.minus + column, terms_.times + column, terms_.missing + column};
  }

  // Copies columns [begin, end) of n rows: column c of them to out[(c - begin) * stride].
  void turn(std::int64_t first, std::int64_t n, std::int64_t begin, std::int64_t end, double* out,
            std::int64_t stride) const {
    static constexpr Plain kPlain;
    const T* rows[kRows];
    for (std::int64_t i = 0; i < n; ++i) {
      rows[i] = static_cast<const T*>(array_.data) + (first + i) * array_.row_stride;
    }
    column_kernels().of<T>().by_rows(rows, n, begin, end, {kPlain.zeros, kPlain.ones, kPlain.missing}, nullptr, out,
                                     stride);
  }
  struct Plain {
    double zeros[kRows] = {}, ones[kRows], missing[kRows];
    constexpr Plain() : ones(), missing() {
      for (double& v : ones) v = 1.0;
      for (double& v : missing) v = std::numeric_limits<double>::quiet_NaN();
    }
  };

  const ArrayView& array_;
  std::vector<double> missing_;
  Terms terms_;
};

bool all_finite(const RowProducts& products) {
  bool finite = true;
  for (std::int64_t i = 0; i < products.n_rows; ++i) {
    for (std::int64_t j = 0; j < products.n_vectors; ++j) {
      finite &= std::isfinite(products.values[i * products.stride + j]);
    }
  }
  return finite;
}

template <class T>
void multiply_panel(const ArrayPanel<T>& rows, std::int64_t n_columns, const double* vectors, std::int64_t n_vectors,
                    ThreadPool& pool, const CancelToken& cancel, const std::function<void(const RowProducts&)>& store,
                    PhaseProgress* progress) {
  if (n_vectors > kFewVectors) {
    const VectorPanel panel(vectors, n_vectors, n_columns);
    const auto hand = [&](const ProductBlock& block) {
      store({block.row, block.n_rows, block.column, block.n_columns, kBlock, block.values});
    };
    return for_each_block(rows, panel, n_columns, pool, cancel, hand, progress);
  }
  constexpr std::int64_t kTaskRows = 8 * kRows;
  std::vector<Buffer<double>> scratch(static_cast<std::size_t>(pool.size()));
  for (Buffer<double>& own : scratch) own = Buffer<double>(kRows * kLeafRows);
  pool.parallel_for(
      checked::ceil_div(rows.width(), kTaskRows), cancel,
      [&](std::int64_t task, int worker) {
        const std::int64_t end = std::min(rows.width(), (task + 1) * kTaskRows);
        double sums[kRows];
        for (std::int64_t row = task * kTaskRows; row < end; row += kRows) {
          const std::int64_t n = std::min(kRows, end - row);
          for (std::int64_t v = 0; v < n_vectors; ++v) {
            rows.multiply(row, n, vectors + v * n_columns, scratch[static_cast<std::size_t>(worker)].data(), sums);
            store({row, n, v, 1, 1, sums});
          }
        }
        if (progress != nullptr) progress->add(end - task * kTaskRows);
      },
      progress);
}

}  // namespace

void require_columns(const ArrayView& array, std::int64_t n_features) {
  if (array.n_columns == n_features) return;
  throw Error(ErrorCode::invalid_argument, "the rows have " + std::to_string(array.n_columns) +
                                               " columns; the model has " + std::to_string(n_features) + " features");
}

bool multiply_array_rows(const ArrayView& array, const RowTerms& terms, const double* vectors, std::int64_t n_vectors,
                         ThreadPool& pool, const CancelToken& cancel,
                         const std::function<void(const RowProducts&)>& store, PhaseProgress* progress) {
  if (is_integer(array.type) || array.gpu >= 0) return false;
  const ArrayView checked = checked_array(array, "the rows");
  if (checked.column_stride != 1) return false;
  std::atomic<bool> finite{true};
  const auto hand = [&](const RowProducts& products) {
    if (!finite.load(std::memory_order_relaxed)) return;
    if (all_finite(products)) return store(products);
    finite.store(false, std::memory_order_relaxed);
  };
  with_type(checked.type, [&](auto value) {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<T>) {
      multiply_panel(ArrayPanel<T>(checked, terms), checked.n_columns, vectors, n_vectors, pool, cancel, hand,
                     progress);
    }
  });
  return finite.load();
}

}  // namespace stope::gram
