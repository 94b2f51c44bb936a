// Large pages for memory that is about to be written for the first time, where the system has them.
#pragma once

#include <cstddef>

namespace stope {

/// A hint to the kernel, for memory of any origin. It then gives one large page at the first touch of each 2 MB,
/// instead of 512 small pages one by one. Those take longer (some 2 us each on a virtual machine) than writing the
/// data.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace stope
