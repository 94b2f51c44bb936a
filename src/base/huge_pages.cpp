#include "base/huge_pages.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

namespace stope {

void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + kPage - 1) / kPage * kPage, end = (begin + bytes) / kPage * kPage;
  if (first >= end) return;
  const int before = errno;
  ::madvise(static_cast<char*>(memory) + (first - begin), end - first, MADV_HUGEPAGE);
  errno = before;  // a kernel without huge pages refuses, which does no harm
}

}  // namespace stope
