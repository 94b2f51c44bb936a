// Host memory from which GPUs copy at full speed, owned by the core.
#pragma once

#include <cstdint>
#include <memory>

#include "base/checked.hpp"
#include "device/cuda_plugin.hpp"

namespace stope::device {

/// `size` values, not initialised. It can be moved, not copied, and exists only where CUDA is on.
template <class T>
class Pinned {
 public:
  Pinned() = default;
  /// Throws out_of_memory. `gpu` is one that the job uses.
  Pinned(int gpu, std::int64_t size) : size_(size) {
    void* memory = nullptr;
    cuda_abi::Failure failure{};
    if (plugin().pin(gpu, checked::mul(size, sizeof(T)), &memory, &failure) != 0) throw_failure(failure);
    memory_.reset(memory);
  }
  T* data() const noexcept { return static_cast<T*>(memory_.get()); }
  std::int64_t size() const noexcept { return size_; }

 private:
  struct Unpin {
    void operator()(void* memory) const noexcept {
      if (cuda_lives()) plugin().unpin(memory);
    }
  };
  std::unique_ptr<void, Unpin> memory_;
  std::int64_t size_ = 0;
};

}  // namespace stope::device
