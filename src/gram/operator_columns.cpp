// Passes over a wide matrix that lies by columns, leaf by leaf (gram/shape.hpp). A task copies 512 columns of some rows
// to the cache, row after row, and multiplies them there. So no row is ever written out whole, and A^T y and A z of a
// leaf take one read of it.
#include "gram/operator_columns.hpp"

#include <algorithm>
#include <memory>

#include "base/checked.hpp"
#include "base/row_sums.hpp"
#include "base/thread_pool.hpp"
#include "gram/operator_cpu.hpp"
#include "gram/shape.hpp"
#include "gram/vectors.hpp"

namespace stope::gram {
namespace {

constexpr std::int64_t kRowsAtOnce = 64;            // 256 kB of doubles, which stay in a second-level cache
constexpr std::int64_t kStride = kLeafColumns + 8;  // rows do not all fall into one set of the cache
constexpr std::int64_t kLeastLeaves = 4;

// The memory of one thread.
struct Space {
  Buffer<char> values;
  Buffer<double> group{kLeafColumns}, x{kLeafColumns};
  std::unique_ptr<SumTree> groups;
  double sums[kRowsAtOnce];
};

class ColumnOperator final : public Operator {
 public:
  ColumnOperator(std::shared_ptr<const RowSource> rows, const GramOptions& options, const RunOptions& run,
                 const device::BackendChoice& backend)
      : rows_(std::move(rows)),
        run_(run),
        backend_(backend),
        kernels_(kernels_of(backend.backend)),
        n_rows_(rows_->n_rows()),
        n_columns_(rows_->n_columns()),
        n_leaves_(gram::n_leaves(n_columns_)),
        n_groups_(gram::n_groups(n_rows_, n_columns_)),
        scale_(options.scale),
        pool_(run.threads),
        spaces_(static_cast<std::size_t>(pool_.size())),
        sums_(checked::mul(n_rows_, n_leaves_)) {
    if (!options.shift.empty()) shift_ = padded_copy(options.shift, n_columns_, {});
    for (Space& space : spaces_) {
      space.groups = std::make_unique<SumTree>(kLeafColumns, kernels_.add_sums);
      std::fill(space.group.begin(), space.group.end(), 0.0);
      space.values = Buffer<char>(kRowsAtOnce * kStride * size_of(rows_->dtype()));
    }
  }

  std::int64_t n_rows() const override { return n_rows_; }
  std::int64_t n_columns() const override { return n_columns_; }

  void multiply(std::span<const double> x, std::span<double> y) override {
    check_vector("x", x.size(), n_columns_, 1);
    check_vector("y", y.size(), n_rows_, 1);
    const Buffer<double> copy = padded_copy(x, n_columns_, scale_);
    for_each_leaf([&](std::int64_t leaf, Space& space) { dot_leaf(leaf, copy.data() + leaf * kLeafColumns, space); });
    add_leaves(y);
  }

  void multiply_transposed(std::span<const double> y, std::span<double> z) override {
    check_vector("y", y.size(), n_rows_, 1);
    check_vector("z", z.size(), n_columns_, 1);
    for_each_leaf([&](std::int64_t leaf, Space& space) { add_leaf(leaf, y.data(), space, z.data()); });
  }

  void gram(std::span<const double> x, std::span<double> z, std::int64_t n_vectors) override {
    check_vector("x", x.size(), n_columns_, n_vectors);
    check_vector("z", z.size(), n_columns_, n_vectors);
    std::vector<double> y(static_cast<std::size_t>(n_rows_));
    const auto length = static_cast<std::size_t>(n_columns_);
    for (std::size_t v = 0; v < static_cast<std::size_t>(n_vectors); ++v) {
      multiply(x.subspan(v * length, length), y);
      multiply_transposed(y, z.subspan(v * length, length));
    }
  }

  void outer(std::span<const double> y, std::span<double> z, std::span<double> image) override {
    check_vector("y", y.size(), n_rows_, 1);
    check_vector("z", z.size(), n_columns_, 1);
    check_vector("image", image.size(), n_rows_, 1);
    for_each_leaf([&](std::int64_t leaf, Space& space) {
      add_leaf(leaf, y.data(), space, z.data());
      const std::int64_t column = leaf * kLeafColumns, n = width(leaf);
      std::fill(space.x.begin(), space.x.end(), 0.0);
      for (std::int64_t c = 0; c < n; ++c) space.x[c] = scaled(z[static_cast<std::size_t>(column + c)], column + c);
      dot_leaf(leaf, space.x.data(), space);
    });
    add_leaves(image);
  }

  GramReport report() const override {
    GramReport report;
    report.backend = kernels_name(backend_);
    report.reason = kernels_reason(backend_);
    report.method = "columns, " + std::to_string(kLeafColumns) + " at a time; " + std::to_string(n_groups_) + " groups";
    report.threads = pool_.size();
    report.passes = passes_;
    report.bytes = passes_ * n_rows_ * n_columns_ * size_of(rows_->dtype());
    return report;
  }

 private:
  std::int64_t width(std::int64_t leaf) const { return std::min(kLeafColumns, n_columns_ - leaf * kLeafColumns); }
  double scaled(double value, std::int64_t column) const {
    return scale_.empty() ? value : value * scale_[static_cast<std::size_t>(column)];
  }

  template <class Work>
  void for_each_leaf(const Work& work) {
    pool_.parallel_for(n_leaves_, run_.cancel,
                       [&](std::int64_t leaf, int worker) { work(leaf, spaces_[static_cast<std::size_t>(worker)]); });
    ++passes_;
  }

  // The columns of a leaf in the rows [first, first + n).
  Slab slab(std::int64_t leaf, std::int64_t first, std::int64_t n, Space& space) const {
    run_.cancel.check();
    const std::int64_t column = leaf * kLeafColumns;
    rows_->block(first, n, column, width(leaf), space.values.data(), kStride);
    return {space.values.data(), kStride, n, width(leaf), shift_.empty() ? nullptr : shift_.data() + column};
  }

  // Computes a leaf of each row's product with x.
  void dot_leaf(std::int64_t leaf, const double* x, Space& space) {
    for (std::int64_t first = 0; first < n_rows_; first += kRowsAtOnce) {
      const std::int64_t n = std::min(kRowsAtOnce, n_rows_ - first);
      const Slab rows = slab(leaf, first, n, space);
      (rows_->dtype() == ElementType::float32 ? kernels_.of_float.dot : kernels_.of_double.dot)(rows, x, space.sums);
      for (std::int64_t r = 0; r < n; ++r) sums_[(first + r) * n_leaves_ + leaf] = space.sums[r];
    }
  }
  void add_leaves(std::span<double> y) {
    for (std::int64_t r = 0; r < n_rows_; ++r) {
      y[static_cast<std::size_t>(r)] = finished(tree_sum(sums_.data() + r * n_leaves_, n_leaves_));
    }
  }

  // Computes z of a leaf's columns.
  void add_leaf(std::int64_t leaf, const double* y, Space& space, double* z) const {
    space.groups->clear();
    std::int64_t group = 0, last = group_begin(1, n_rows_, n_groups_);  // the end of the group
    bool fresh = true;
    for (std::int64_t first = 0; first < n_rows_; first += kRowsAtOnce) {
      const Slab rows = slab(leaf, first, std::min(kRowsAtOnce, n_rows_ - first), space);
      for (std::int64_t row = first; row < first + rows.n_rows;) {
        Slab part = rows;
        part.values = space.values.data() + (row - first) * kStride * size_of(rows_->dtype());
        part.n_rows = std::min(first + rows.n_rows, last) - row;
        part.fresh = fresh;
        (rows_->dtype() == ElementType::float32 ? kernels_.of_float.add : kernels_.of_double.add)(part, y + row,
                                                                                                  space.group.data());
        row += part.n_rows;
        fresh = row == last;
        if (!fresh) continue;
        space.groups->push(space.group.data());
        if (++group < n_groups_) last = group_begin(group + 1, n_rows_, n_groups_);
      }
    }
    const double* const sums = space.groups->finish();
    const std::int64_t column = leaf * kLeafColumns;
    for (std::int64_t c = 0; c < width(leaf); ++c) z[column + c] = finished(scaled(sums[c], column + c));
  }

  std::shared_ptr<const RowSource> rows_;
  const RunOptions run_;
  const device::BackendChoice backend_;
  const Kernels& kernels_;
  const std::int64_t n_rows_, n_columns_, n_leaves_, n_groups_;
  const std::vector<double> scale_;
  Buffer<double> shift_;
  ThreadPool pool_;
  std::vector<Space> spaces_;
  Buffer<double> sums_;  // [row][leaf]
  std::int64_t passes_ = 0;
};

}  // namespace

bool suits_column_operator(const RowSource& rows) {
  return rows.has_blocks() && n_leaves(rows.n_columns()) >= kLeastLeaves;
}

std::unique_ptr<Operator> make_column_operator(std::shared_ptr<const RowSource> rows, const GramOptions& options,
                                               const RunOptions& run, const device::BackendChoice& backend) {
  return std::make_unique<ColumnOperator>(std::move(rows), options, run, backend);
}

}  // namespace stope::gram
