#include "gram/panels.hpp"

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "gram/shape.hpp"

namespace stope::gram {
namespace {

// Sizes of a panel. It has as many rows as fit a first-level cache, but at least 4, better 8, as x and z pass through
// the cache once per panel. These, and as many rows of the next panel, must fit a second-level cache. If rows are too
// wide for that, A^T y finds nothing in the cache, and a panel has enough rows that x and z do not count.
constexpr std::int64_t kPanelBytes = std::int64_t{32} << 10;
constexpr std::int64_t kCachedPanelBytes = std::int64_t{768} << 10;
constexpr std::int64_t kWidePanelRows = 32;
constexpr std::int64_t kMostPanelRows = 256;
// The leaves of a block: 16 KB of x or z stay in the first-level cache. Wide rows are read 64 KB at a time, since
// memory delivers long pieces faster; 128 KB of x or z stay in the second-level cache.
constexpr std::int64_t kBlockLeaves = 4, kWideBlockLeaves = 32;
// Wide rows are prefetched that far ahead. Measured with 32 rows of a million floats: 12.3 ms without, 9.6 ms with
// half of it, 8.7 ms with all, 9.3 ms with twice as much; reading alone takes 7.3 ms.
constexpr std::int64_t kAhead = 4096;

bool is_wide(std::int64_t row_bytes) {
  return 4 * row_bytes > kCachedPanelBytes;
}

std::int64_t panel_rows(std::int64_t row_bytes) {
  if (is_wide(row_bytes)) return kWidePanelRows;
  const std::int64_t least = 8 * row_bytes <= kCachedPanelBytes ? 8 : 4;
  return std::clamp(kPanelBytes / row_bytes / 4 * 4, least, kMostPanelRows);
}

}  // namespace

Panels::Panels(const RowSource& rows, const Kernels& kernels, Buffer<double> shift)
    : of_float_(kernels.of_float),
      of_double_(kernels.of_double),
      dtype_(rows.dtype()),
      in_place_(rows.in_place()),
      n_columns_(rows.n_columns()),
      row_stride_(rows.row_stride()),
      wide_(is_wide(checked::mul(n_columns_, size_of(dtype_)))),
      n_rows_(panel_rows(n_columns_ * size_of(dtype_))),
      block_leaves_(wide_ ? kWideBlockLeaves : kBlockLeaves),
      shift_(std::move(shift)) {}

Slab Panels::slab(const void* values, std::int64_t n, std::int64_t column, std::int64_t n_columns) const {
  const std::int64_t element = size_of(dtype_);
  Slab slab;
  slab.values = static_cast<const char*>(values) + column * element;
  slab.row_stride = row_stride_;
  slab.n_rows = n;
  slab.n_columns = n_columns;
  if (!shift_.empty()) slab.shift = shift_.data() + column;
  // Nothing is read behind the last row, and a prefetch beyond the memory does no harm.
  if (wide_) {
    slab.ahead = kAhead;
    slab.dot_ahead_rows = n;
    slab.add_ahead_from = 0;
  } else if (in_place_) {
    // The next panel, the first half of its rows during A x and the others during A^T y: so memory is read all the
    // time.
    slab.ahead = n * row_stride_ * element;
    slab.dot_ahead_rows = slab.add_ahead_from = n / 2;
  }
  return slab;
}

void Panels::dot(const void* values, std::int64_t n, std::int64_t leaf, std::int64_t end, const double* x,
                 double* sums) const {
  const auto& dot = dtype_ == ElementType::float32 ? of_float_.dot : of_double_.dot;
  const std::int64_t leaves = n_leaves(n_columns_);
  for (std::int64_t begin = leaf; begin < end; begin += block_leaves_) {
    const std::int64_t column = begin * kLeafColumns;
    const std::int64_t width = std::min(std::min(end - begin, block_leaves_) * kLeafColumns, n_columns_ - column);
    if (width == n_columns_) return dot(slab(values, n, 0, width), x, sums);
    // The leaves that several rows have in a block do not lie side by side in `sums`.
    double block[std::max(kMostPanelRows * kBlockLeaves, kWidePanelRows * kWideBlockLeaves)];
    dot(slab(values, n, column, width), x + column, block);
    const std::int64_t here = n_leaves(width);
    for (std::int64_t r = 0; r < n; ++r) std::copy_n(block + r * here, here, sums + r * leaves + begin);
  }
}

void Panels::add(const void* values, std::int64_t n, std::int64_t leaf, std::int64_t end, const double* y, double* z,
                 bool fresh, Sums then) const {
  const auto& add = dtype_ == ElementType::float32 ? of_float_.add : of_double_.add;
  for (std::int64_t begin = leaf; begin < end; begin += block_leaves_) {
    const std::int64_t column = begin * kLeafColumns;
    const std::int64_t width = std::min(std::min(end - begin, block_leaves_) * kLeafColumns, n_columns_ - column);
    Slab rows = slab(values, n, column, width);
    rows.fresh = fresh;
    add(rows, y, z + column);
    if (then == Sums::go_on) continue;
    for (std::int64_t c = column; c < column + width; ++c) z[c] = finished(z[c]);
  }
}

}  // namespace stope::gram
