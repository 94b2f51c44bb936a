// Handles of the C ABI: numbers that stand for objects. A number is given out once and is no address, so that a handle
// that was freed, or that another library made, is found to be none without touching memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "stope/error.hpp"
#include "stope/stope.h"

namespace stope::capi {

enum class Kind : std::uintptr_t { run, options, table, builder, model, lists };

/// What a handle's type is called in messages.
const char* name_of(Kind kind) noexcept;

/// Keeps an object until its handle is freed. Safe from several threads at once, as are the two below.
void* add_handle(Kind kind, const std::shared_ptr<void>& object);
/// The object, or null for what is no handle of that kind. Whoever holds the pointer may go on after the handle is
/// freed.
std::shared_ptr<void> find_handle(const void* handle, Kind kind) noexcept;
/// Returns what was removed, so that it is destroyed outside the lock.
std::shared_ptr<void> remove_handle(const void* handle, Kind kind) noexcept;

/// Which kind of handle an object of the core has. Specialised where the object is defined.
template <class Object>
struct KindOf;

template <class Object>
std::shared_ptr<Object> find(const void* handle) noexcept {
  return std::static_pointer_cast<Object>(find_handle(handle, KindOf<Object>::value));
}

/// Throws invalid_argument for a null pointer and for what is no handle of that kind.
template <class Object>
std::shared_ptr<Object> at(const void* handle) {
  auto object = find<Object>(handle);
  if (object != nullptr) return object;
  const std::string name = name_of(KindOf<Object>::value);
  throw Error(
      ErrorCode::invalid_argument,
      handle == nullptr ? "the " + name + " is a null pointer" : "the " + name + " is no handle of stope, or was freed",
      {.option = name});
}

template <class Handle, class Object>
Handle* give(std::shared_ptr<Object> object) {
  return static_cast<Handle*>(add_handle(KindOf<Object>::value, std::move(object)));
}

}  // namespace stope::capi
