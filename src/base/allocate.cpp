// Large allocations (stope/buffer.hpp), in memory or in a mapped temporary file.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/fault.hpp"
#include "base/guarded.hpp"
#include "base/zeroed.hpp"
#include "stope/buffer.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and the widest vector register

Error no_memory(std::int64_t bytes) {
  return {ErrorCode::out_of_memory, bytes < 0 ? std::string("a size exceeds the address space")
                                              : "cannot allocate " + std::to_string(bytes) + " bytes"};
}

std::shared_ptr<void> in_memory(std::int64_t bytes) {
  if (fault::alloc_fails()) throw no_memory(bytes);
  void* memory =
      ::operator new(static_cast<std::size_t>(bytes > 0 ? bytes : 1), std::align_val_t{kAlignment}, std::nothrow);
  if (memory == nullptr) throw no_memory(bytes);
  return {memory, [](void* p) { ::operator delete(p, std::align_val_t{kAlignment}); }};
}

// From this size on zeros come from the system itself: calloc() overwrites what its heap had left over, which for many
// allocations of 1 MB took a seventh of them.
constexpr std::int64_t kMapped = std::int64_t{1} << 18;

// The system's pages are zero and take no memory until they are written to. calloc() aligns less than needed.
std::shared_ptr<void> zeroed_in_memory(std::int64_t bytes) {
  if (fault::alloc_fails()) throw no_memory(bytes);
  if (bytes >= kMapped) {
    const auto length = static_cast<std::size_t>(bytes);
    void* const pages = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw no_memory(bytes);
    return {pages, [length](void* p) { ::munmap(p, length); }};
  }
  // NOLINTBEGIN(cppcoreguidelines-owning-memory): the owner is the next line
  void* const memory = std::calloc(static_cast<std::size_t>(bytes) + kAlignment, 1);
  if (memory == nullptr) throw no_memory(bytes);
  std::shared_ptr<void> owner(memory, [](void* p) { std::free(p); });
  // NOLINTEND(cppcoreguidelines-owning-memory)
  const std::uintptr_t above = reinterpret_cast<std::uintptr_t>(memory) % kAlignment;
  return {std::move(owner), static_cast<char*>(memory) + (kAlignment - above) % kAlignment};
}

// /tmp is often held in memory itself; /var/tmp is for large files that need not be.
std::string spill_folder() {
  const std::string_view folder = environment::text(environment::Variable::temporary_folder);
  return folder.empty() ? "/var/tmp" : std::string(folder);
}

class SpillFile {
 public:
  SpillFile() : folder_(spill_folder()) {
    const int fault = fault::io_fails();
    std::string path = folder_ + "/stope-XXXXXX";
    fd_ = fault != 0 ? -1 : ::mkostemp(path.data(), O_CLOEXEC);
    if (fd_ < 0) fail("create a temporary file", fault != 0 ? fault : errno);
    ::unlink(path.c_str());  // the file goes with its last mapping, however the process ends
  }
  ~SpillFile() { ::close(fd_); }
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  void* map(std::int64_t bytes) {
    const auto length = static_cast<std::size_t>(bytes);
    // Reserves the bytes now: a disk that fills up while pages are written would end the process with SIGBUS.
    const int fault = fault::io_fails();
    const int error = fault != 0 ? fault : ::posix_fallocate(fd_, 0, bytes);
    if (error != 0) fail("reserve " + std::to_string(bytes) + " bytes for a table", error);
    void* address = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (address == MAP_FAILED) fail("map " + std::to_string(bytes) + " bytes", errno);
    return address;
  }

 private:
  [[noreturn]] void fail(const std::string& what, int error_number) const {
    // Without address space, or with too many mappings, memory is short, and not the disk.
    throw Error(error_number == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::io,
                "cannot " + what + " (TMPDIR names the folder): " + std::generic_category().message(error_number),
                {folder_});
  }

  std::string folder_;
  int fd_ = -1;
};

std::shared_ptr<void> in_file(std::int64_t bytes) {
  if (bytes == 0) return in_memory(bytes);  // an empty mapping is impossible
  void* address = SpillFile().map(bytes);
  const auto length = static_cast<std::size_t>(bytes);
  return {address, [length](void* p) { ::munmap(p, length); }};
}

}  // namespace

std::shared_ptr<void> allocate_shared_bytes(std::int64_t bytes, Storage storage) try {
  if (bytes < 0) throw no_memory(bytes);
  return storage == Storage::file ? in_file(bytes) : in_memory(bytes);
} catch (...) {
  rethrow_as_error();
}

std::shared_ptr<void> allocate_zeroed_bytes(std::int64_t bytes, Storage storage) try {
  if (bytes < 0) throw no_memory(bytes);
  return storage == Storage::file ? in_file(bytes) : zeroed_in_memory(bytes);  // a new file is full of zeros
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
