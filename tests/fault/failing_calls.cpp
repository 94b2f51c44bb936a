// Makes one system call of the program fail, or ends the program right before it. It is loaded before the C library
// (LD_PRELOAD), so it meets the program as it is shipped, where the library's own hook (base/fault.hpp) meets only what
// the library passes through it.
//   STOPE_FAILING_CALL="KIND N ERRNO": the N-th call of a kind fails once with this errno.
//   STOPE_FAILING_CALL="KIND N -SIGNAL": the program gets this signal right before the call, which is then made.
//   STOPE_FAILING_CALL=short: every read and write moves at most three bytes.
//   STOPE_CALLS_LOG=FILE: the kinds of all calls are written there in their order, with what they are about.
// Kinds: open, read, write, fsync, rename, link, unlink, mmap, fallocate, thread. Calls that the C library makes itself
// are not seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

enum Kind { kOpen, kRead, kWrite, kSync, kRename, kLink, kUnlink, kMap, kAllocate, kThread, kKinds };
constexpr const char* kNames[kKinds] = {"open", "read",   "write", "fsync",     "rename",
                                        "link", "unlink", "mmap",  "fallocate", "thread"};

struct Plan {
  int kind = -1, error = 0;
  long at = 0;
  bool is_short = false;
  int log = -1;

  Plan() {
    if (const char* name = std::getenv("STOPE_CALLS_LOG"); name != nullptr) {
      log = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    }
    const char* text = std::getenv("STOPE_FAILING_CALL");
    if (text == nullptr) return;
    is_short = std::strcmp(text, "short") == 0;
    char name[16] = "";
    if (std::sscanf(text, "%15s %ld %d", name, &at, &error) != 3) return;
    for (int k = 0; k < kKinds; ++k) {
      if (std::strcmp(name, kNames[k]) == 0) kind = k;
    }
  }
};

const Plan& plan() {
  static const Plan made;
  return made;
}

std::atomic<long> made_calls[kKinds];

// Counts a call, and sends the signal that is planned for it. Returns whether it fails, with errno set.
bool fails(Kind kind, const char* about) {
  const Plan& p = plan();
  if (p.log >= 0) {
    char line[PATH_MAX + 32];
    const int n = std::snprintf(line, sizeof line, "%s %s\n", kNames[kind], about);
    if (n > 0) static_cast<void>(::syscall(SYS_write, p.log, line, static_cast<size_t>(n)));
  }
  if (made_calls[kind].fetch_add(1) + 1 != p.at || kind != p.kind) return false;
  if (p.error < 0) {
    ::kill(::getpid(), -p.error);
    return false;
  }
  errno = p.error;
  return true;
}

// The path of a descriptor, for the log.
struct PathOf {
  char text[PATH_MAX] = "";
  explicit PathOf(int descriptor) {
    if (plan().log < 0) return;
    char link[64];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t n = ::syscall(SYS_readlinkat, AT_FDCWD, link, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
  }
};

size_t at_most(size_t bytes) {
  return plan().is_short && bytes > 3 ? 3 : bytes;
}

int open_at(const char* path, int flags, mode_t mode) {
  if (fails(kOpen, path)) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

void* map(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  if (fails(kMap, "")) return MAP_FAILED;
  const long mapped = ::syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);
  return mapped == -1 ? MAP_FAILED : reinterpret_cast<void*>(mapped);
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(more, unsigned)) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_at(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open_at(path, flags, mode);
}
ssize_t read(int descriptor, void* to, size_t bytes) {
  if (fails(kRead, PathOf(descriptor).text)) return -1;
  return ::syscall(SYS_read, descriptor, to, at_most(bytes));
}
ssize_t write(int descriptor, const void* from, size_t bytes) {
  if (fails(kWrite, PathOf(descriptor).text)) return -1;
  return ::syscall(SYS_write, descriptor, from, at_most(bytes));
}
int fsync(int descriptor) {
  if (fails(kSync, PathOf(descriptor).text)) return -1;
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
int rename(const char* from, const char* to) noexcept {
  if (fails(kRename, to)) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int link(const char* from, const char* to) noexcept {
  if (fails(kLink, from)) return -1;
  return static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int unlink(const char* path) noexcept {
  if (fails(kUnlink, path)) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
void* mmap(void* address, size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  return map(address, bytes, protection, flags, descriptor, offset);
}
void* mmap64(void* address, size_t bytes, int protection, int flags, int descriptor, off64_t offset) noexcept {
  return map(address, bytes, protection, flags, descriptor, offset);
}
int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  using Allocate = int (*)(int, off_t, off_t);
  static const auto allocate = reinterpret_cast<Allocate>(::dlsym(RTLD_NEXT, "posix_fallocate"));
  return fails(kAllocate, PathOf(descriptor).text) ? errno : allocate(descriptor, offset, bytes);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  if (fails(kThread, "")) return errno;
  return create(thread, attributes, work, argument);
}

}  // extern "C"
