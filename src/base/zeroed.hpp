// Memory that is zero from the beginning and takes no pages until it is written to.
#pragma once

#include <cstdint>
#include <memory>

#include "stope/buffer.hpp"

namespace stope {

/// As allocate_shared_bytes() (stope/buffer.hpp), but all bytes are 0.
std::shared_ptr<void> allocate_zeroed_bytes(std::int64_t bytes, Storage storage);

}  // namespace stope
