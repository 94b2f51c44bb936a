// Temporary file, fsync, rename, fsync of the directory (io/atomic_file.hpp).
#include "io/atomic_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/fault.hpp"
#include "io/foreign_format.hpp"
#include "stope/error.hpp"
#include "stope/io.hpp"

namespace stope::io {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;  // one system call per megabyte has no visible cost
constexpr int kStepMs = 100;                                // of waiting for a reader
constexpr int kMaxLinks = 40;                               // the kernel follows as many before it says ELOOP
constexpr int kMaxNames = 100;                              // attempts to find a free temporary name

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// In a sticky folder that everybody may write into, such as /tmp, a link of another user is a trap: it leads where
/// that user cannot write but we can. The kernel refuses it (fs.protected_symlinks), but only where it follows the
/// link.
bool is_trap(const std::string& path) {
  struct stat link{}, folder{};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
  if (::stat(directory_of(path).c_str(), &folder) != 0) return false;
  const bool shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
  return shared && link.st_uid != ::geteuid() && link.st_uid != folder.st_uid;
}

/// The path at which a chain of symbolic links ends, even if it does not exist yet (realpath() would refuse it). Empty,
/// with errno, where a link must not be followed.
std::string follow_links(std::string path) {
  for (int links = 0; links < kMaxLinks; ++links) {
    if (is_trap(path)) {
      errno = EACCES;
      return {};
    }
    char target[4096];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length <= 0 || length == static_cast<ssize_t>(sizeof target)) return path;
    const std::string next(target, static_cast<std::size_t>(length));
    path = next.front() == '/' ? next : directory_of(path).append("/").append(next);
  }
  return path;  // a cycle; opening it reports ELOOP
}

/// The descriptor that a path stands for: "-", /dev/stdout, /dev/stderr, /dev/fd/3; -1 for a file.
int descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char* const end = path.data() + path.size();
    const auto [stop, status] = std::from_chars(path.data() + folder.size(), end, number);
    if (status == std::errc() && stop == end && number >= 0) return number;
  }
  return -1;
}

/// The name is short and does not contain the target's, which may already be as long as the file system allows.
std::string temporary_name() {
  static std::atomic<std::uint64_t> counter{0};
  const auto ticks = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  char name[96];
  std::snprintf(name, sizeof name, ".stope-%ld-%llx-%llx.tmp", static_cast<long>(::getpid()),
                static_cast<unsigned long long>(ticks),
                static_cast<unsigned long long>(counter.fetch_add(1, std::memory_order_relaxed)));
  return name;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, const CancelToken& cancel) : cancel_(cancel), path_(path) {
  if (const int descriptor = descriptor_of(path); descriptor >= 0) {
    use(descriptor);
    return;
  }
  if (path.empty()) fail("open", ENOENT);
  compressor_ = Compressor::for_path(path);
  if (path.back() == '/') fail("open", EISDIR);
  std::error_code ignored;
  if (is_url(path) && !std::filesystem::exists(std::filesystem::path(path).parent_path(), ignored)) {
    throw Error(ErrorCode::unsupported, "is a URL, and only files are written; '-' writes to a pipe", {path});
  }
  target_ = follow_links(path);
  if (target_.empty()) fail("follow a link that another user made in a shared folder", errno);
  struct stat info{};
  const bool exists = ::stat(target_.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) fail("open", errno);
  if (!exists) {
    open_temporary(0666, false);
    return;
  }
  if (S_ISDIR(info.st_mode)) fail("open", EISDIR);
  // A rename would replace a write-protected file if the directory is writable. Its owner meant otherwise.
  if (::access(target_.c_str(), W_OK) != 0) fail("open", errno);
  if (S_ISREG(info.st_mode)) {
    open_temporary(info.st_mode & 0777U, true);  // what is written now was not made by whom set-uid would stand for
    return;
  }
  if (S_ISFIFO(info.st_mode)) {
    open_fifo();
    return;
  }
  if (!S_ISCHR(info.st_mode)) fail("open", EINVAL);
  if (const int fault = fault::io_fails()) fail("open", fault);
  fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd_ < 0) fail("open", errno);
  owns_fd_ = may_block_ = true;
}

// Waits in steps until somebody reads, so that a cancelled job does not hang.
void AtomicFile::open_fifo() {
  if (const int fault = fault::io_fails()) fail("open", fault);
  while ((fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK)) < 0) {
    if (errno != ENXIO && errno != EINTR) fail("open", errno);
    cancel_.check();
    ::poll(nullptr, 0, kStepMs);
  }
  owns_fd_ = may_block_ = true;
  if (::fcntl(fd_, F_SETFL, O_WRONLY) != 0) fail("open", errno);
}

void AtomicFile::use(int descriptor) {
  if (descriptor == STDOUT_FILENO) path_ = "<stdout>";
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) fail("write", EBADF);
  fd_ = descriptor;
  struct stat info{};
  may_block_ = ::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode);
}

AtomicFile::~AtomicFile() {
  if (owns_fd_) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (!old_.empty()) ::unlink(old_.c_str());
}

void AtomicFile::open_temporary(unsigned mode, bool keep_mode) {
  if (const int fault = fault::io_fails()) fail("open", fault);
  const std::string directory = directory_of(target_);
  for (int attempt = 0; attempt < kMaxNames && fd_ < 0; ++attempt) {
    temporary_ = directory + "/" + temporary_name();
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0666U);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ < 0) {
    const int error_number = errno;
    temporary_.clear();
    fail("create", error_number);
  }
  owns_fd_ = true;
  noted_ = NotedFile(temporary_);
  // Best effort: a file system without modes (FAT, some network mounts) must not stop the output.
  if (keep_mode && ::fchmod(fd_, mode) != 0) errno = 0;
}

void AtomicFile::fail(std::string_view what, int error_number) const {
  const std::string message = "cannot " + std::string(what) + ": " + std::generic_category().message(error_number);
  if (error_number == EPIPE) throw BrokenPipe(message, {.file = path_});
  throw Error(ErrorCode::io, message, {.file = path_});
}

void AtomicFile::require_space(std::int64_t bytes) const {
  struct statvfs disk{};
  if (temporary_.empty() || compressor_ != nullptr || ::fstatvfs(fd_, &disk) != 0) return;
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  if (static_cast<double>(bytes) <= free) return;
  throw Error(ErrorCode::io,
              "cannot write " + std::to_string(bytes) + " bytes: the disk has " +
                  std::to_string(static_cast<std::int64_t>(free)) + " bytes free",
              {path_});
}

void AtomicFile::write(std::string_view bytes) {
  if (compressor_ == nullptr) return append(bytes);
  compressor_->add(bytes, packed_);
  append(packed_);
  packed_.clear();
}

void AtomicFile::append(std::string_view bytes) {
  if (fd_ < 0) fail("write", EBADF);  // after a commit
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) return write_out(bytes);
  buffer_.append(bytes);
}

void AtomicFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

// A pipe that is ready takes PIPE_BUF bytes at once. So no write blocks, and a cancelled job does not hang on a reader
// that reads no more: if another thread took the signal, no system call of this one is interrupted.
void AtomicFile::write_out(std::string_view bytes) {
  while (!bytes.empty()) {
    cancel_.check();
    if (may_block_) wait_for_reader();
    if (const int fault = fault::io_fails()) fail("write", fault);
    const ssize_t written =
        ::write(fd_, bytes.data(), may_block_ ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::wait_for_reader() const {
  pollfd ready{fd_, POLLOUT, 0};
  for (;;) {
    const int events = ::poll(&ready, 1, kStepMs);
    if (events > 0 || (events < 0 && errno != EINTR)) return;  // write() will say what is wrong with it
    cancel_.check();
  }
}

void AtomicFile::sync() {
  if (fd_ < 0) return;  // an earlier commit came this far, and its rename failed
  if (compressor_ != nullptr) {
    compressor_->finish(packed_);
    compressor_.reset();
    append(packed_);
  }
  flush();
  if (temporary_.empty()) return;
  if (const int fault = fault::io_fails()) fail("sync", fault);
  if (::fsync(fd_) != 0) fail("sync", errno);
  // A network file system may report a failed write only when the file is closed. The descriptor is gone either way,
  // and its number may soon be another file's.
  owns_fd_ = false;
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) fail("close", errno);
}

void AtomicFile::rename_into_place() {
  if (temporary_.empty()) return;
  if (const int fault = fault::io_fails()) fail("rename", fault);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("rename", errno);
  noted_.forget();
  temporary_.clear();
  renamed_ = true;
}

/// Until the directory is on disk, a power cut could bring the old file back, whole. Some file systems cannot sync a
/// directory and say EINVAL; some directories can be written but not opened. Nothing more can be done there.
void AtomicFile::sync_directory() const {
  if (!renamed_) return;
  if (const int fault = fault::io_fails()) fail("sync the directory of", fault);
  const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  const int error_number = ::fsync(directory) == 0 ? 0 : errno;
  ::close(directory);
  if (error_number == EIO || error_number == ENOSPC) fail("sync the directory of", error_number);
}

/// Best effort: if the file system has no hard links, a failing rename leaves the earlier files new.
void AtomicFile::keep_old() {
  if (temporary_.empty()) return;
  was_there_ = ::access(target_.c_str(), F_OK) == 0;
  if (!was_there_) return;
  std::string name = directory_of(target_) + "/" + temporary_name();
  if (::link(target_.c_str(), name.c_str()) == 0) old_ = std::move(name);
}

void AtomicFile::undo() noexcept {
  if (!renamed_) return;
  if (!old_.empty()) {
    if (::rename(old_.c_str(), target_.c_str()) == 0) old_.clear();
  } else if (!was_there_) {
    ::unlink(target_.c_str());
  }
}

void AtomicFile::commit() {
  sync();
  rename_into_place();
  sync_directory();
}

void commit_all(const std::vector<AtomicFile*>& files) {
  for (AtomicFile* file : files) file->sync();
  try {
    for (AtomicFile* file : files) file->keep_old();
    for (AtomicFile* file : files) file->rename_into_place();
    for (AtomicFile* file : files) file->sync_directory();
  } catch (...) {
    for (AtomicFile* file : files) file->undo();
    throw;
  }
}

}  // namespace stope::io
