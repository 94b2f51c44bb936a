// load_bytes: plain files by mmap, small files and standard input by read, compressed ones expanded (io/bytes.hpp).
#include "io/bytes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/fault.hpp"
#include "base/memory.hpp"
#include "base/progress.hpp"
#include "io/foreign_format.hpp"
#include "io/inflate.hpp"
#include "io/noted_files.hpp"
#include "stope/buffer.hpp"
#include "stope/escape.hpp"

namespace stope::io {
namespace {

// Smaller files are copied, which costs less than the page faults of a mapping. If another process cuts such a file
// short meanwhile, its data are short, and no SIGBUS follows. A larger file that shrinks while it is mapped still ends
// the process: guarding every access would cost more than the parse, and copying would double the memory. A program may
// ask which file it was (stope/lost_input.hpp).
constexpr std::int64_t kMapFrom = std::int64_t{1} << 20;
constexpr std::int64_t kReadStep = std::int64_t{1} << 20;

[[noreturn]] void fail_io(const std::string& name, const std::string& what, int error_number) {
  const ErrorCode code = error_number == ENOMEM ? ErrorCode::out_of_memory : ErrorCode::io;
  throw Error(code, "cannot " + what + ": " + std::generic_category().message(error_number), {name});
}

class Descriptor {
 public:
  Descriptor(const std::string& path, const CancelToken& cancel) : owned_(path != "-") {
    if (!owned_) {
      fd_ = STDIN_FILENO;
      return;
    }
    const int fault = fault::io_fails();
    // O_NONBLOCK: a FIFO opens before anybody writes to it, and wait_for_data() waits for the writer.
    do {
      cancel.check();
      fd_ = fault != 0 ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (fault == 0 && fd_ < 0 && errno == EINTR);
    if (fd_ >= 0) {
      const int flags = ::fcntl(fd_, F_GETFL);
      if (flags >= 0) ::fcntl(fd_, F_SETFL, flags & ~O_NONBLOCK);
      return;
    }
    if (fault == 0 && errno == ENOENT && is_url(path)) {
      throw Error(ErrorCode::unsupported, "is a URL, and only files are read; the way round: " + way_to_read(path),
                  {path});
    }
    fail_io(path, "open", fault != 0 ? fault : errno);
  }
  ~Descriptor() {
    if (owned_) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  bool owned_;
  int fd_ = -1;
};

// /dev/zero, /dev/urandom and the like never end: they would be read up to the memory limit. A terminal ends when its
// user says so, and /dev/null at once. /dev/stdin and /dev/fd/N are what they stand for.
bool may_never_end(int fd, const struct stat& status) {
  struct stat null{};
  return S_ISCHR(status.st_mode) && ::isatty(fd) == 0 &&
         (::stat("/dev/null", &null) != 0 || null.st_rdev != status.st_rdev);
}

struct stat status_of(int fd, const std::string& name) {
  struct stat status{};
  const int fault = fault::io_fails();
  if (fault != 0 || ::fstat(fd, &status) != 0) fail_io(name, "stat", fault != 0 ? fault : errno);
  if (S_ISDIR(status.st_mode)) fail_io(name, "read", EISDIR);
  if (may_never_end(fd, status)) {
    throw Error(ErrorCode::io, "cannot read: is a device that may never end, not a file, pipe or terminal", {name});
  }
  return status;
}

// Waits for data in steps, so that a cancelled job does not hang on a pipe to which nobody writes: if another thread
// took the signal, no system call of this one is interrupted. A file is always ready.
void wait_for_data(int fd, const CancelToken& cancel) {
  constexpr int kStepMs = 100;
  pollfd ready{fd, POLLIN, 0};
  for (;;) {
    cancel.check();
    const int events = ::poll(&ready, 1, kStepMs);
    if (events > 0 || (events < 0 && errno != EINTR)) return;  // read() will say what is wrong with it
  }
}

std::int64_t read_some(int fd, char* to, std::int64_t n, const std::string& name, const CancelToken& cancel) {
  for (;;) {
    wait_for_data(fd, cancel);
    const int fault = fault::io_fails();
    const ssize_t got = fault != 0 ? -1 : ::read(fd, to, static_cast<std::size_t>(n));
    if (got >= 0) return got;
    if (fault != 0 || errno != EINTR) fail_io(name, "read", fault != 0 ? fault : errno);
  }
}

enum class Wait { never, for_writer };

// Reads `fd` to its end, behind what has been read of it. Its size is unknown (a pipe) or only expected.
Bytes read_all(int fd, std::string_view begun, std::int64_t expected, Wait wait, const std::string& name,
               const RunOptions& run) {
  const std::int64_t budget = memory_budget(run);
  Buffer<char> buffer(expected + 1);  // one more byte shows the end without growing
  std::int64_t size = std::ssize(begun);
  std::copy_n(begun.data(), begun.size(), buffer.data());
  PhaseProgress progress(run, "load", 0);
  if (wait == Wait::for_writer) tell_progress(run, "load", 0, 0);  // the first byte may come late
  for (;;) {
    if (size == buffer.size()) {
      const std::int64_t larger = std::min(std::max(size * 2, kReadStep), budget - size);
      if (larger <= size) {
        refuse_memory_from("the input has more than " + std::to_string(size) + " bytes; growing to hold them needs",
                           2 * size + 1, budget, {name});  // old and new memory
      }
      Buffer<char> copy(larger);
      std::copy_n(buffer.data(), size, copy.data());
      buffer = std::move(copy);
    }
    const std::int64_t got =
        read_some(fd, buffer.data() + size, std::min(buffer.size() - size, kReadStep), name, run.cancel);
    if (got == 0) break;
    size += got;
    progress.reach(size);
  }
  auto owner = std::make_shared<Buffer<char>>(std::move(buffer));
  const std::string_view view(owner->data(), static_cast<std::size_t>(size));
  const std::int64_t held = owner->size();
  return {view, std::move(owner), name, held};
}

struct Mapping {
  void* address = nullptr;
  std::size_t length = 0;
  NotedFile noted;

  Mapping() = default;
  ~Mapping() {
    if (address != nullptr) ::munmap(address, length);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

Bytes map_file(int fd, std::int64_t size, const std::string& name) {
  auto mapping = std::make_shared<Mapping>();
  const int fault = fault::io_fails();
  const auto length = static_cast<std::size_t>(size);
  void* address = fault != 0 ? MAP_FAILED : ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) fail_io(name, "map", fault != 0 ? fault : errno);
  mapping->address = address;
  mapping->length = length;
  mapping->noted = NotedFile(escape_controls(name), address, size);
  return {{static_cast<const char*>(address), length}, std::move(mapping), name, 0};
}

// The content as it is: compressed, if the file is.
Bytes as_it_is(int fd, const struct stat& status, bool plain, std::string_view begun, const std::string& name,
               const RunOptions& run) {
  if (plain && status.st_size >= kMapFrom) return map_file(fd, status.st_size, name);
  return read_all(fd, begun, plain ? status.st_size : std::int64_t{64} << 10,
                  S_ISREG(status.st_mode) ? Wait::never : Wait::for_writer, name, run);
}

}  // namespace

struct Input::State {
  State(const std::string& its_path, const RunOptions& how)
      : path(its_path), run(how), file(its_path, how.cancel), name(path == "-" ? "<stdin>" : path) {
    status = status_of(file.get(), name);
    plain = S_ISREG(status.st_mode) && path != "-";
  }
  std::string path;
  const RunOptions& run;
  Descriptor file;
  std::string name;
  struct stat status{};
  bool plain = false;
  std::string begun;  // of a pipe: what has been read to look at it
  std::size_t given = 0;
};

Input::Input(const std::string& path, const RunOptions& run) {
  run.cancel.check();
  state_ = std::make_unique<State>(path, run);
}

Input::~Input() = default;

const std::string& Input::name() const {
  return state_->name;
}

std::string_view Input::head() {
  constexpr std::size_t kHead = 8;
  if (state_->plain) return {};
  if (state_->begun.empty()) tell_progress(state_->run, "load", 0, 0);  // the first byte may come late
  while (state_->begun.size() < kHead) {
    std::array<char, kHead> bytes{};
    const auto left = static_cast<std::int64_t>(kHead - state_->begun.size());
    const std::int64_t got = read_some(state_->file.get(), bytes.data(), left, state_->name, state_->run.cancel);
    if (got == 0) break;
    state_->begun.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return state_->begun;
}

std::int64_t Input::read(char* to, std::int64_t size) {
  const std::string_view left = std::string_view(state_->begun).substr(state_->given);
  if (left.empty()) return read_some(state_->file.get(), to, size, state_->name, state_->run.cancel);
  const std::int64_t n = std::min(size, static_cast<std::int64_t>(left.size()));
  std::copy_n(left.data(), n, to);
  state_->given += static_cast<std::size_t>(n);
  return n;
}

Bytes load_bytes(const std::string& path, const RunOptions& run) {
  return Input(path, run).load();
}

Bytes Input::load() {
  const std::string& path = state_->path;
  const std::string& name = state_->name;
  const RunOptions& run = state_->run;
  Bytes bytes = as_it_is(state_->file.get(), state_->status, state_->plain, state_->begun, name, run);

  const Compression compression = compression_of(bytes.view);
  if (compression == Compression::none) {
    const bool gz = path.ends_with(".gz"), zst = path.ends_with(".zst");
    if (!gz && !zst) return bytes;
    throw Error(ErrorCode::invalid_data, std::string("is not a ") + (gz ? "gzip" : "zstd") + " file", {name});
  }
  const std::int64_t limit = memory_budget(run);
  const std::int64_t budget = run.memory_limit > 0 ? std::max<std::int64_t>(limit - bytes.held, 0) : limit;
  PhaseProgress progress(run, "decompress", static_cast<std::int64_t>(bytes.view.size()));
  Inflated inflated = inflate(bytes.view, compression, name, budget, run.cancel, progress);
  progress.reach(static_cast<std::int64_t>(bytes.view.size()));
  auto owner = std::make_shared<Buffer<char>>(std::move(inflated.buffer));
  const std::string_view view(owner->data(), static_cast<std::size_t>(inflated.size));
  const std::int64_t held = owner->size();
  return {view, std::move(owner), name, held};
}

}  // namespace stope::io
