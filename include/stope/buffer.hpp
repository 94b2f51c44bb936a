// Buffer<T>: the values of a column. Shared, immutable once filled, not initialised on creation, 64-byte aligned;
// columns of less than 64 bytes that readers of wide tables make are 16-byte aligned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#pragma GCC visibility push(default)
namespace stope {

/// Where values lie: in memory, or in a temporary file that is mapped into the address space. The system takes the
/// pages of such a file back when memory is short, so that they do not count against a memory limit.
enum class Storage { memory, file };

/// Allocates 64-byte aligned bytes; they are freed when the last copy of the pointer goes. A file lies in the folder
/// $TMPDIR, else in /var/tmp; it has no name and vanishes with the process. Throws Error{out_of_memory} naming the
/// bytes, and Error{io} where that folder cannot be written or has no room. Every large allocation of the library
/// passes through here, so the allocation-fault hook sits here.
std::shared_ptr<void> allocate_shared_bytes(std::int64_t bytes, Storage storage = Storage::memory);

/// A contiguous array of trivially copyable values. Copying a Buffer shares the memory; a filled buffer is treated as
/// immutable. borrow() wraps memory that someone else owns (NumPy, Arrow) without copying it. A job reads such memory
/// until it returns. What it fits goes on using the memory if that has an owner, and then nobody may write to it;
/// without an owner it copies what it needs (docs/adr/0021-lent-memory.md).
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// `size` elements, not initialised.
  explicit Buffer(std::int64_t size, Storage storage = Storage::memory)
      : owner_(allocate_shared_bytes(size < 0 || size > INT64_MAX / static_cast<std::int64_t>(sizeof(T))
                                         ? std::int64_t{-1}
                                         : size * static_cast<std::int64_t>(sizeof(T)),
                                     storage)),
        data_(static_cast<T*>(owner_.get())),
        size_(size),
        storage_(storage) {}

  /// Wraps `size` elements at `data`; `keep_alive`, the owner, is released with the last copy. Null: the memory has no
  /// owner, and this buffer and its copies may be used as long as the memory is there.
  static Buffer borrow(T* data, std::int64_t size, std::shared_ptr<void> keep_alive,
                       Storage storage = Storage::memory) {
    Buffer buffer;
    buffer.owner_ = std::move(keep_alive);
    buffer.data_ = data;
    buffer.size_ = size;
    buffer.storage_ = storage;
    return buffer;
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::int64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Storage storage() const noexcept { return storage_; }
  /// Whether the values stay as long as the buffer: false for memory borrowed without an owner.
  bool owned() const noexcept { return owner_ != nullptr || size_ == 0; }
  T& operator[](std::int64_t i) noexcept { return data_[i]; }
  const T& operator[](std::int64_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }

 private:
  std::shared_ptr<void> owner_;
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  Storage storage_ = Storage::memory;
};

}  // namespace stope
#pragma GCC visibility pop
