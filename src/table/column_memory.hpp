// Memory for the values of a table's columns. It decides whether they lie in memory or in a mapped file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/checked.hpp"
#include "base/zeroed.hpp"
#include "stope/buffer.hpp"
#include "stope/run.hpp"

namespace stope {

/// Where a table of `bytes` belongs under a budget. Beyond half of the budget it goes to a file, since a job needs room
/// for more than its table and often has two tables.
constexpr Storage storage_within(std::int64_t bytes, std::int64_t budget) {
  return bytes > budget / 2 ? Storage::file : Storage::memory;
}

/// How many of a run's threads there is room for, if each holds `bytes`; at least 1, whose memory then belongs where
/// storage_within() says.
inline int threads_within(std::int64_t bytes, const RunOptions& run) {
  const std::int64_t asked = run.threads > 0 ? run.threads : available_threads();
  return static_cast<int>(
      std::clamp<std::int64_t>(memory_budget(run) / 2 / std::max<std::int64_t>(bytes, 1), 1, asked));
}

/// What fresh columns hold: anything, or zeros that take no memory until they are overwritten.
enum class Fill { none, zero };

/// Hands out buffers of `n_rows` values for `n_columns` columns whose rows take `row_bytes` together. In memory each
/// column has an allocation of its own, except that short columns of wide tables share some, and so do zeros. In a file
/// all share one mapping: the system limits mappings, and tables may have millions of columns. Shared memory lives as
/// long as the last of its columns.
class ColumnMemory {
 public:
  ColumnMemory(Storage storage, std::int64_t n_rows, std::int64_t n_columns, std::int64_t row_bytes,
               Fill fill = Fill::none)
      : storage_(storage), fill_(fill), n_rows_(n_rows) {
    if (storage != Storage::file) {
      if (n_columns >= kManyColumns && n_rows <= kShortRows) block_bytes_ = kBlockBytes;
      // Zeros: only blocks that the system gives fresh need not be overwritten.
      const bool short_columns = n_rows < kZeroBlockBytes / std::int64_t{sizeof(double)};
      if (fill == Fill::zero && short_columns && checked::mul(n_rows, row_bytes) >= kZeroBlockBytes) {
        block_bytes_ = kZeroBlockBytes;
      }
      return;
    }
    left_ = checked::add(checked::mul(n_rows, row_bytes), checked::mul(n_columns, kAlignment));
    block_ = allocate(left_);
  }

  template <class T>
  Buffer<T> take() {
    if (storage_ != Storage::file && block_bytes_ == 0) {
      if (fill_ == Fill::none) return Buffer<T>(n_rows_);
      const std::shared_ptr<void> memory = allocate(checked::mul(n_rows_, std::int64_t{sizeof(T)}));
      return Buffer<T>::borrow(static_cast<T*>(memory.get()), n_rows_, memory);
    }
    // The shortest columns of a block in memory share lines: a line for two values would be most of a wide table.
    const std::int64_t n_bytes = n_rows_ * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t unit = storage_ != Storage::file && n_bytes < kAlignment ? kLeastAlignment : kAlignment;
    const std::int64_t bytes = checked::ceil_div(n_bytes, unit) * unit;
    const std::int64_t gap = (unit - used_ % unit) % unit;  // behind a shorter column
    used_ += gap;
    left_ -= gap;
    if (left_ < bytes) {
      block_ = allocate(block_bytes_);
      left_ = block_bytes_;
      used_ = 0;
    }
    T* const values = reinterpret_cast<T*>(static_cast<char*>(block_.get()) + used_);
    used_ += bytes;
    left_ -= bytes;
    return Buffer<T>::borrow(values, n_rows_, block_, storage_);
  }

 private:
  std::shared_ptr<void> allocate(std::int64_t bytes) const {
    return fill_ == Fill::zero ? allocate_zeroed_bytes(bytes, storage_) : allocate_shared_bytes(bytes, storage_);
  }

  static constexpr std::int64_t kAlignment = 64;  // the alignment of allocate_shared_bytes
  static constexpr std::int64_t kLeastAlignment = 16;
  static constexpr std::int64_t kManyColumns = 4096, kShortRows = 256;
  static constexpr std::int64_t kBlockBytes = std::int64_t{256} << 10;
  static constexpr std::int64_t kZeroBlockBytes = std::int64_t{1} << 20;

  Storage storage_;
  Fill fill_;
  std::int64_t n_rows_;
  std::int64_t block_bytes_ = 0;      // size of a block in memory; 0: every column has its own
  std::int64_t used_ = 0, left_ = 0;  // bytes of block_
  std::shared_ptr<void> block_;
};

}  // namespace stope
