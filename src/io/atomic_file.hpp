// Bytes out: a file that is absent, old or complete, never half-written (promise 4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stope::io {

/// Writes to a temporary file beside `path`, buffered; commit() syncs and renames it into place. Destruction without
/// commit() removes it. "-" writes straight to standard output. A path that is a FIFO or a character device
/// (/dev/null, /dev/stdout) is written directly.
class AtomicFile {
 public:
  /// Throws io at once if the directory is missing or not writable, or the path is a directory.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  void flush();

  std::string path_, temporary_;
  std::string buffer_;
  int fd_ = -1;
  bool owns_fd_ = false;
};

}  // namespace stope::io
