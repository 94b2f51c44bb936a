// Owners of structures of the Arrow C interfaces: each is released once, whatever happens.
#pragma once

#include <utility>

#include "stope/arrow.hpp"

namespace stope::io::arrow {

/// Holds a structure that was moved out of the caller's. The caller's then counts as released.
template <class Structure>
class Owned {
 public:
  Owned() = default;
  /// Moves `*from`; null is nothing. It cannot fail, so that nothing is lost between the caller and the owner.
  explicit Owned(Structure* from) noexcept {
    if (from == nullptr) return;
    structure_ = *from;
    from->release = nullptr;
  }
  ~Owned() { reset(); }
  Owned(Owned&& other) noexcept : Owned(&other.structure_) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    reset();
    structure_ = other.structure_;
    other.structure_.release = nullptr;
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  explicit operator bool() const noexcept { return structure_.release != nullptr; }
  const Structure& operator*() const noexcept { return structure_; }
  const Structure* operator->() const noexcept { return &structure_; }
  /// For a producer that fills the structure.
  Structure* get() noexcept { return &structure_; }

 private:
  void reset() noexcept {
    if (structure_.release == nullptr) return;
    // The callback sets `release` to null; one that forgets it must not be called again.
    Structure gone = std::exchange(structure_, {});
    gone.release(&gone);
  }

  Structure structure_{};
};

}  // namespace stope::io::arrow
