// Bytes out: a file that is absent, old or complete, never half-written (promise 4).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/compress.hpp"

namespace stope::io {

/// Writes to a temporary file beside `path`, buffered; commit() syncs it and renames it into place. Destruction without
/// commit() removes it, so an exception (a full disk, a cancelled job) leaves what was there before. An existing file
/// keeps its mode, a new one follows the umask; a symbolic link stays one and its target is replaced. "-" and
/// /dev/stdout write straight to standard output; a FIFO or a character device is written directly. A path that ends
/// in .gz or .zst is compressed.
class AtomicFile {
 public:
  /// Throws io at once if the directory is missing or not writable, the file is write-protected or a directory.
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws io (a full disk, a lost device), BrokenPipe (stope/io.hpp) where the reader of a pipe has gone.
  void write(std::string_view bytes);
  void commit();

 private:
  friend void commit_all(const std::vector<AtomicFile*>& files);

  void open_temporary(unsigned mode, bool keep_mode);
  void append(std::string_view bytes);
  void flush();
  void write_out(std::string_view bytes);
  void sync();
  void rename_into_place();
  void sync_directory() const;
  void keep_old();
  void undo() noexcept;
  [[noreturn]] void fail(std::string_view what, int error_number) const;

  std::string path_;       // as the caller named it: for messages
  std::string target_;     // what is replaced: path_ with symbolic links followed
  std::string old_;        // a second name of what stood at target_, while several files are committed
  std::string temporary_;  // empty once it is renamed, and where the output is written directly
  std::string buffer_;
  std::string packed_;  // what the compressor has just put out
  std::unique_ptr<Compressor> compressor_;
  int fd_ = -1;
  bool owns_fd_ = false;
  bool was_there_ = false;  // target_ existed before commit_all() began
  bool renamed_ = false;
};

/// Commits files that belong together. Every file is synced before the first is renamed, so that what can run out (the
/// disk) does so while all the old files still stand; if a rename fails, those before it are undone.
void commit_all(const std::vector<AtomicFile*>& files);

}  // namespace stope::io
