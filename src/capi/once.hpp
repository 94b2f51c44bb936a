// A text that is made by the first call that asks for it, and lives as long as its handle.
#pragma once

#include <mutex>
#include <optional>
#include <string>

namespace stope::capi {

class OnceText {
 public:
  /// Null where memory is short, or `make` throws anything else; the next call tries again.
  template <class Make>
  const char* get(const Make& make) noexcept {
    try {
      const std::lock_guard lock(mutex_);
      if (!text_) text_ = make();
      return text_->c_str();
    } catch (...) {
      return nullptr;
    }
  }

 private:
  std::mutex mutex_;
  std::optional<std::string> text_;
};

}  // namespace stope::capi
