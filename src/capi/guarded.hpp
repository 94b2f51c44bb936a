// Exceptions end here: a body that throws becomes a stope_code and a filled stope_error.
#pragma once

#include <exception>
#include <string>

#include "stope/error.hpp"
#include "stope/stope.h"

namespace stope::capi {

/// Fills what the caller's structure has room for; `error` may be null.
stope_code fill(stope_error* error, const Error& what) noexcept;
void clear(stope_error* error) noexcept;

template <class Body>
stope_code guarded(stope_error* error, const Body& body) noexcept {
  clear(error);
  try {
    body();
    return STOPE_OK;
  } catch (...) {
    return fill(error, error_of(std::current_exception()));
  }
}

/// Throws invalid_argument for a null pointer that the caller has to give.
template <class Pointer>
Pointer* required(Pointer* pointer, const char* what) {
  if (pointer != nullptr) return pointer;
  throw Error(ErrorCode::invalid_argument, std::string("'") + what + "' is a null pointer", {.option = what});
}

/// The same for the place of a result, which is null until there is one.
template <class Handle>
void begin_out(Handle** out) {
  *required(out, "out") = nullptr;
}

}  // namespace stope::capi
