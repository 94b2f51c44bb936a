// Keeps the library's need of glibc low. The libstdc++ that is linked in asks for arc4random(), which glibc has since
// 2.36, and for nothing else that new. This copy, which the library does not show, is linked instead.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) std::abort();  // as glibc does
  return number;
}
