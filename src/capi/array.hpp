// Plain arrays of the C ABI as the core takes them.
#pragma once

#include <cstdint>
#include <memory>

#include "stope/array.hpp"
#include "stope/stope.h"

namespace stope::capi {

/// Throws invalid_argument for a null pointer, an unknown type, and strides that are no multiples of the element's
/// size.
ArrayView view_of(const stope_array* array, const char* what);

/// Memory that a caller lends until release(context) is called, once, when the last copy goes, also where this fails.
/// Null without `release`.
std::shared_ptr<const void> owner_of(void (*release)(void*), void* context);

}  // namespace stope::capi
