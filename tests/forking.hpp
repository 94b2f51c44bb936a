// Can a test fork a process that has threads?
#pragma once

#include <string>

namespace stope {

/// Why a test cannot do without its own process's threads in a child; empty if it can. ThreadSanitizer ends a child of
/// fork() that touches its parent's threads or starts some of its own.
inline std::string why_no_fork() {
#if defined(__SANITIZE_THREAD__)
  return "ThreadSanitizer follows no threads into a child of fork()";
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  return "ThreadSanitizer follows no threads into a child of fork()";
#endif
#endif
  return "";
}

}  // namespace stope
