// Memory that is about to be written for the first time, in large pages where the system has them.
#pragma once

#include <cstddef>

namespace stope {

/// A hint: the kernel gives a large page at the first touch of each 2 MB instead of 512 small ones, one by one, which
/// take longer than what is written to them (some 2 us each on a virtual machine). For memory of any origin.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept;

}  // namespace stope
