// Owned memory of a GPU, and pinned memory of the host that a GPU copies from and to without help of the processor.
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

/// Bytes on the GPU that is current, aligned to 256. Throws out_of_memory naming the bytes; every allocation of the
/// plug-in passes here or through the next one, where the allocation-fault hook sits.
std::unique_ptr<void, FreeDevice> allocate_device(std::int64_t bytes);
std::unique_ptr<void, FreePinned> allocate_pinned(std::int64_t bytes);

/// `size` values, not initialised; moves, does not copy. Size 0 owns nothing.
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

/// Memory of the GPU that is made anew, and then for half as much more, when it is too small; what was in it is lost.
template <class T>
class GrowingBuffer {
 public:
  /// At least `size` values.
  T* of(std::int64_t size) {
    if (size > memory_.size()) {
      memory_ = {};  // first: both at once might not fit
      memory_ = DeviceBuffer<T>(checked::add(size, size / 2));
    }
    return memory_.data();
  }
  T* data() const noexcept { return memory_.data(); }

 private:
  DeviceBuffer<T> memory_;
};

}  // namespace stope::cuda
