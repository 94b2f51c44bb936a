// How much memory this process may use, cgroup limits respected.
#pragma once

#include <cstdint>

namespace stope {

std::int64_t memory_total_bytes();
std::int64_t memory_available_bytes();

}  // namespace stope
