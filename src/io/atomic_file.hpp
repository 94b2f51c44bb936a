// Output of bytes: a file is absent, old or complete, never half-written (promise 4).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/compress.hpp"
#include "io/noted_files.hpp"
#include "stope/run.hpp"

namespace stope::io {

/// Writes, buffered, to a temporary file in the folder of `path`; commit() syncs it and renames it into place.
/// Destruction without commit() removes it, so an exception (a full disk, a cancelled job) leaves what was there
/// before. An existing file keeps its mode but for set-uid and its kin, and a new one follows the umask. A symbolic
/// link stays one; its target is replaced. Links that the kernel would not follow in shared folders are refused
/// (fs.protected_symlinks). "-", /dev/stdout, /dev/stderr and /dev/fd/N mean descriptors of the process, which are
/// written directly, as are FIFOs and character devices. A path that ends in .gz or .zst is compressed.
class AtomicFile {
 public:
  /// Throws io at once if the directory is missing or not writable, or if the file is write-protected or a directory.
  /// Waits for the reader of a FIFO. Throws cancelled, here and wherever bytes are written, once the token is.
  explicit AtomicFile(const std::string& path, const CancelToken& cancel = {});
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Throws io if the disk has less than that many bytes free. Nothing is checked of a compressed file and of what is
  /// written directly.
  void require_space(std::int64_t bytes) const;
  /// Throws io (a full disk, a lost device), and BrokenPipe (stope/io.hpp) if the reader of a pipe has gone.
  void write(std::string_view bytes);
  void commit();

 private:
  friend void commit_all(const std::vector<AtomicFile*>& files);

  void use(int descriptor);
  void open_fifo();
  void open_temporary(unsigned mode, bool keep_mode);
  void append(std::string_view bytes);
  void flush();
  void write_out(std::string_view bytes);
  void wait_for_reader() const;
  void sync();
  void rename_into_place();
  void sync_directory() const;
  void keep_old();
  void undo() noexcept;
  [[noreturn]] void fail(std::string_view what, int error_number) const;

  CancelToken cancel_;
  std::string path_;       // as the caller named it, for messages
  std::string target_;     // the file that is replaced: path_ with symbolic links followed
  std::string old_;        // a second name of the old file at target_, while several files are committed
  NotedFile noted_;        // temporary_, for a handler of signals
  std::string temporary_;  // empty once it is renamed, and where the output is written directly
  std::string buffer_;
  std::string packed_;  // the compressor's latest output
  std::unique_ptr<Compressor> compressor_;
  int fd_ = -1;
  bool owns_fd_ = false;
  bool may_block_ = false;  // no regular file
  bool was_there_ = false;  // target_ existed before commit_all() began
  bool renamed_ = false;
};

/// Commits files that belong together. Every file is synced before the first is renamed, so that a full disk shows
/// while all the old files still stand. If a rename fails, the renames before it are undone.
void commit_all(const std::vector<AtomicFile*>& files);

}  // namespace stope::io
