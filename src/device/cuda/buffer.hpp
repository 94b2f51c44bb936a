// Owned memory of a GPU, and pinned memory of the host, which a GPU reads and writes without the CPU.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/checked.hpp"

namespace stope::cuda {

struct FreeDevice {
  void operator()(void* memory) const noexcept;
};
struct FreePinned {
  void operator()(void* memory) const noexcept;
};

/// Allocates bytes on the current GPU, aligned to 256. Throws out_of_memory with the number of bytes. Every allocation
/// of the plug-in passes through this function or the next one: the allocation-fault hook sits there. Freed memory is
/// kept for the next call (device/kept_memory.hpp); it is freed where the GPU has no room for what is asked for.
std::unique_ptr<void, FreeDevice> allocate_device(std::int64_t bytes);
std::unique_ptr<void, FreePinned> allocate_pinned(std::int64_t bytes);

/// Memory of a GPU that is kept, and in no use.
std::int64_t spare_device_bytes(int gpu);

/// Holds `size` values, not initialised. It can be moved, not copied. Size 0 owns nothing.
template <class T, class Free, std::unique_ptr<void, Free> (*allocate)(std::int64_t)>
class OwnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  OwnedBuffer() = default;
  explicit OwnedBuffer(std::int64_t size) : size_(size) {
    if (size > 0) memory_ = allocate(checked::mul(size, sizeof(T)));
  }
  T* data() const noexcept { return static_cast<T*>(memory_.get()); }
  std::int64_t size() const noexcept { return size_; }
  std::int64_t bytes() const noexcept { return size_ * static_cast<std::int64_t>(sizeof(T)); }

 private:
  std::unique_ptr<void, Free> memory_;
  std::int64_t size_ = 0;
};

template <class T>
using DeviceBuffer = OwnedBuffer<T, FreeDevice, &allocate_device>;
template <class T>
using PinnedBuffer = OwnedBuffer<T, FreePinned, &allocate_pinned>;

/// Memory on the GPU that is allocated anew, with half as much again, when it is too small. Its contents are lost then.
template <class T>
class GrowingBuffer {
 public:
  /// Returns room for at least `size` values.
  T* of(std::int64_t size) {
    if (size > memory_.size()) {
      memory_ = {};  // frees first: both might not fit at once
      memory_ = DeviceBuffer<T>(checked::add(size, size / 2));
    }
    return memory_.data();
  }
  T* data() const noexcept { return memory_.data(); }

 private:
  DeviceBuffer<T> memory_;
};

}  // namespace stope::cuda
