// The values of a table's columns, in memory or in a mapped file: the place where that is decided.
#pragma once

#include <cstdint>
#include <memory>

#include "base/checked.hpp"
#include "stope/buffer.hpp"
#include "stope/run.hpp"

namespace stope {

/// Where a table of so many bytes belongs under a budget: beyond half of it in a file, since a job needs room beside
/// its table and often has two of them.
constexpr Storage storage_within(std::int64_t bytes, std::int64_t budget) {
  return bytes > budget / 2 ? Storage::file : Storage::memory;
}

/// Hands out buffers of `n_rows` values for `n_columns` columns whose rows take `row_bytes` together. Each is an
/// allocation of its own in memory; in a file all share one mapping (the system counts mappings, and tables may have
/// 100,000 columns), which lives as long as the last of them.
class ColumnMemory {
 public:
  ColumnMemory(Storage storage, std::int64_t n_rows, std::int64_t n_columns, std::int64_t row_bytes)
      : storage_(storage), n_rows_(n_rows) {
    if (storage != Storage::file) return;
    file_ = allocate_shared_bytes(checked::add(checked::mul(n_rows, row_bytes), checked::mul(n_columns, kAlignment)),
                                  storage);
  }

  template <class T>
  Buffer<T> take() {
    if (storage_ != Storage::file) return Buffer<T>(n_rows_);
    const std::int64_t begin = used_;
    used_ += checked::ceil_div(n_rows_ * static_cast<std::int64_t>(sizeof(T)), kAlignment) * kAlignment;
    return Buffer<T>::borrow(reinterpret_cast<T*>(static_cast<char*>(file_.get()) + begin), n_rows_, file_, storage_);
  }

 private:
  static constexpr std::int64_t kAlignment = 64;  // as allocate_shared_bytes gives it

  Storage storage_;
  std::int64_t n_rows_;
  std::int64_t used_ = 0;
  std::shared_ptr<void> file_;
};

}  // namespace stope
