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
#include "gram/row_kernels.hpp"
#include "gram/tile_product.hpp"
#include "gram/vector_panel.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kRows = 64;  // rows at a time: with 256 columns, 128 kB of a second-level cache
// Vectors are packed once for all rows if they take no more than this. Beyond the second size, more rows at a time
// share each reading of them.
constexpr std::int64_t kMostPacked = std::int64_t{64} << 20, kManyPacked = std::int64_t{1} << 19;
constexpr std::int64_t kMoreRows = 4 * kRows;
// Up to so many rows of several groups of columns are summed up by groups.
constexpr std::int64_t kFewRows = 1024;

template <class T>
RowBlock<T> block_of(const ArrayView& array, std::int64_t row, std::int64_t n_rows, std::int64_t begin,
                     std::int64_t end) {
  return {static_cast<const T*>(array.data) + row * array.row_stride + begin, array.row_stride, n_rows, end - begin};
}

Moves moves_of(const RowTerms& terms, std::int64_t column) {
  return {terms.minus.data() + column, terms.times.data() + column};
}

// The array, whose rows are the columns of this matrix.
template <class T>
class ArrayPanel final : public PanelSource {
 public:
  ArrayPanel(const ArrayView& array, const RowTerms& terms) : array_(array), terms_(terms) {}

  std::int64_t width() const override { return array_.n_rows; }
  void pack(std::int64_t tile, std::int64_t begin, std::int64_t end, double* out) const override {
    const std::int64_t first = tile * kTile, n = std::min(kTile, width() - first);
    if (n < kTile) std::fill(out, out + (end - begin) * kTile, 0.0);
    row_kernels().of<T>().by_columns(block_of<T>(array_, first, n, begin, end), moves_of(terms_, begin), out, kTile);
  }

 private:
  const ArrayView& array_;
  const RowTerms& terms_;
};

// Eight sums, so that they become vectors on every x86-64: x - x is 0 for a number and NaN for anything else.
bool all_finite(const double* values, std::int64_t n) {
  constexpr std::int64_t kLanes = 8;
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += values[i + lane] - values[i + lane];
  }
  for (; i < n; ++i) sums[0] += values[i] - values[i];
  double sum = 0.0;
  for (const double part : sums) sum += part;
  return sum == 0.0;
}

bool all_finite(const RowProducts& products) {
  bool finite = true;
  for (std::int64_t i = 0; i < products.n_rows; ++i) {
    finite &= all_finite(products.values + i * products.stride, products.n_vectors);
  }
  return finite;
}

// The products of an array's rows with vectors.
template <class T>
class Multiplication {
 public:
  Multiplication(const ArrayView& array, const RowTerms& terms, const double* vectors, std::int64_t n_vectors,
                 ThreadPool& pool, const CancelToken& cancel, const std::function<void(const RowProducts&)>& store,
                 PhaseProgress* progress)
      : array_(array),
        terms_(terms),
        vectors_(vectors),
        n_vectors_(n_vectors),
        n_tiles_(checked::ceil_div(n_vectors, kTile)),
        pool_(pool),
        cancel_(cancel),
        store_(store),
        progress_(progress) {}

  void run() {
    const std::int64_t depth = array_.n_columns;
    if (n_vectors_ <= kFewVectors) return by_few();
    if (depth > kGroupRows && array_.n_rows <= kFewRows) return by_groups();
    if (checked::mul(8 * kTile, checked::mul(n_tiles_, depth)) <= kMostPacked) return by_rows();
    const ArrayPanel<T> rows(array_, terms_);
    const auto hand = [&](const ProductBlock& block) {
      store_({block.row, block.n_rows, block.column, block.n_columns, kBlock, block.values});
    };
    for_each_block(rows, VectorPanel(vectors_, n_vectors_, depth), depth, pool_, cancel_, hand, progress_);
  }

 private:
  // Calls work(row, n, worker) for strips of rows.
  template <class Work>
  void for_each_strip(std::int64_t at_once, const Work& work) {
    const auto task = [&](std::int64_t strip, int worker) {
      const std::int64_t row = strip * at_once, n = std::min(at_once, array_.n_rows - row);
      work(row, n, static_cast<std::size_t>(worker));
      if (progress_ != nullptr) progress_->add(n);
    };
    pool_.parallel_for(checked::ceil_div(array_.n_rows, at_once), cancel_, task, progress_);
  }

  // Few vectors: rows become columns in the cache, whose sums run side by side.
  void by_few() {
    std::vector<Buffer<double>> scratch(static_cast<std::size_t>(pool_.size()));
    for (Buffer<double>& own : scratch) own = Buffer<double>(kRows * kLeafRows);
    for_each_strip(8 * kRows, [&](std::int64_t first, std::int64_t n, std::size_t worker) {
      double sums[kRows];
      for (std::int64_t row = first; row < first + n; row += kRows) {
        const std::int64_t here = std::min(kRows, first + n - row);
        for (std::int64_t v = 0; v < n_vectors_; ++v) {
          multiply(row, here, vectors_ + v * array_.n_columns, scratch[worker].data(), sums);
          store_({row, here, v, 1, 1, sums});
        }
      }
    });
  }

  // Computes the products of rows [row, row + n), n <= kRows, with x.
  void multiply(std::int64_t row, std::int64_t n, const double* x, double* scratch, double* sums) const {
    static constexpr Plain kPlain;
    const std::int64_t n_columns = array_.n_columns;
    double leaf[kRows];
    SumTree groups(n);
    std::fill_n(sums, n, 0.0);
    for (std::int64_t begin = 0; begin < n_columns; begin += kLeafRows) {
      const std::int64_t end = std::min(begin + kLeafRows, n_columns);
      row_kernels().of<T>().by_columns(block_of<T>(array_, row, n, begin, end), moves_of(terms_, begin), scratch,
                                       kRows);
      const double* columns[kLeafRows];
      for (std::int64_t c = begin; c < end; ++c) columns[c - begin] = scratch + (c - begin) * kRows;
      std::fill_n(leaf, n, 0.0);
      column_kernels().of_double.add_products(columns, end - begin, 0, n, {kPlain.zeros, kPlain.ones, kPlain.missing},
                                              x + begin, leaf);
      for (std::int64_t r = 0; r < n; ++r) sums[r] += leaf[r];
      if (n_columns <= kGroupRows || (end % kGroupRows != 0 && end < n_columns)) continue;
      groups.push(sums);
      std::fill_n(sums, n, 0.0);
    }
    if (n_columns > kGroupRows) std::copy_n(groups.finish(), n, sums);
  }
  // Terms that change nothing.
  struct Plain {
    double zeros[kLeafRows] = {}, ones[kLeafRows], missing[kLeafRows];
    constexpr Plain() : ones(), missing() {
      for (double& v : ones) v = 1.0;
      for (double& v : missing) v = std::numeric_limits<double>::quiet_NaN();
    }
  };

  // Few long rows: threads share the columns, and each operand is packed once a group or two.
  void by_groups() {
    const ArrayPanel<T> rows(array_, terms_);
    const VectorPanel vectors(vectors_, n_vectors_, array_.n_columns);
    Buffer<double> products(checked::mul(array_.n_rows, n_vectors_));
    cross_product(rows, vectors, array_.n_columns, pool_, cancel_, products.data());
    store_({0, array_.n_rows, 0, n_vectors_, n_vectors_, products.data()});
    if (progress_ != nullptr) progress_->add(array_.n_rows);
  }

  // The memory of one thread: a leaf of some rows, the sums of a group, and their tree.
  struct Strip {
    explicit Strip(std::int64_t n_rows, std::int64_t width)
        : values(n_rows * kRowStride), sums(n_rows * width), groups(n_rows * width) {}
    Buffer<double> values, sums;
    SumTree groups;
  };

  // Many rows: they are multiplied as they lie, leaf by leaf of their columns, by vectors that are packed once.
  void by_rows() {
    const std::int64_t depth = array_.n_columns, width = n_tiles_ * kTile;
    const Buffer<double> packed = packed_vectors();
    const std::int64_t least = packed.size() * 8 > kManyPacked ? kMoreRows : kRows;
    // Every thread gets some strips.
    const std::int64_t share = checked::ceil_div(array_.n_rows, std::int64_t{4} * pool_.size());
    const std::int64_t at_once = std::clamp<std::int64_t>(checked::ceil_div(share, 8) * 8, 8, least);
    std::vector<Strip> strips;
    strips.reserve(static_cast<std::size_t>(pool_.size()));
    for (int i = 0; i < pool_.size(); ++i) strips.emplace_back(at_once, width);
    for_each_strip(at_once, [&](std::int64_t row, std::int64_t n, std::size_t worker) {
      Strip& own = strips[worker];
      own.groups.clear();
      for (std::int64_t begin = 0; begin < depth; begin += kLeafRows) {
        const std::int64_t end = std::min(begin + kLeafRows, depth);
        if (begin % kGroupRows == 0) std::fill(own.sums.begin(), own.sums.end(), 0.0);
        row_kernels().of<T>().by_rows(block_of<T>(array_, row, n, begin, end), moves_of(terms_, begin),
                                      own.values.data(), kRowStride);
        for (std::int64_t tile = 0; tile < n_tiles_; ++tile) {
          rows_product()(own.values.data(), packed.data() + (tile * depth + begin) * kTile, end - begin, n,
                         std::min(kTile, n_vectors_ - tile * kTile), own.sums.data() + tile * kTile, width);
        }
        if (depth > kGroupRows && (end % kGroupRows == 0 || end == depth)) own.groups.push(own.sums.data());
      }
      store_({row, n, 0, n_vectors_, width, depth > kGroupRows ? own.groups.finish() : own.sums.data()});
    });
  }

  // Entry c of vector 16 t + j at [(t * n_columns + c) * 16 + j].
  Buffer<double> packed_vectors() {
    const std::int64_t depth = array_.n_columns;
    const VectorPanel panel(vectors_, n_vectors_, depth);
    Buffer<double> packed(checked::mul(n_tiles_, depth) * kTile);
    for (std::int64_t tile = 0; tile < n_tiles_; ++tile) {
      panel.pack(tile, 0, depth, packed.data() + tile * depth * kTile);
    }
    return packed;
  }

  const ArrayView& array_;
  const RowTerms& terms_;
  const double* const vectors_;
  const std::int64_t n_vectors_, n_tiles_;
  ThreadPool& pool_;
  const CancelToken& cancel_;
  const std::function<void(const RowProducts&)>& store_;
  PhaseProgress* const progress_;
};

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
      Multiplication<T>(checked, terms, vectors, n_vectors, pool, cancel, hand, progress).run();
    }
  });
  return finite.load();
}

}  // namespace stope::gram
