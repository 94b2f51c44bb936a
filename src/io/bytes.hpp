// Input of bytes: the whole content of an input, and a reader that cannot run past its end.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stope/error.hpp"
#include "stope/run.hpp"

namespace stope::io {

/// A file among several whose contents follow one another.
struct BytesPart {
  std::int64_t begin = 0;       ///< offset of its first byte
  std::string name;             ///< the file
  std::int64_t first_line = 1;  ///< the file's line at which it begins
};

/// The content of a file, kept alive with it. A plain file is memory-mapped, so it does not count against the memory
/// budget. Standard input ("-") and compressed files (.gz, .zst, by suffix or by magic number) are held in memory.
struct Bytes {
  std::string_view view;
  std::shared_ptr<const void> owner;
  std::string name;       ///< for error messages: the path, or "<stdin>"
  std::int64_t held = 0;  ///< bytes of memory that `view` takes; 0 for a mapping
  std::shared_ptr<const std::vector<BytesPart>> parts = nullptr;  ///< in order; null for a single file
};

/// A file, or a pipe that shows how it begins before it is loaded or read piece by piece. Each function throws what
/// load_bytes throws.
class Input {
 public:
  Input(const std::string& path, const RunOptions& run);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// The first bytes of a pipe, 8 unless it is shorter. Empty for a plain file.
  std::string_view head();
  /// The whole content, the head included. Once.
  Bytes load();
  /// Up to `size` further bytes, first those of the head; 0 at the end.
  std::int64_t read(char* to, std::int64_t size);
  const std::string& name() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Loads a file's content. Throws io (missing, a directory, unreadable), invalid_data (damaged compressed data),
/// out_of_memory (it expands past the memory budget of `run`), cancelled.
Bytes load_bytes(const std::string& path, const RunOptions& run);

static_assert(std::endian::native == std::endian::little, "the binary formats are read as they lie in memory");

/// Reads little-endian values and slices from a byte range; every step is checked against what is left.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  std::int64_t remaining() const { return static_cast<std::int64_t>(bytes_.size()); }
  std::int64_t position() const { return position_; }

  /// Takes the next n bytes. Throws invalid_data naming `what`, the offset, and the bytes wanted and left.
  std::string_view take(std::int64_t n, std::string_view what) {
    if (n < 0 || n > remaining()) {
      throw Error(ErrorCode::invalid_data,
                  std::string(what) + " at byte " + std::to_string(position_) + " needs " + std::to_string(n) +
                      " bytes, " + std::to_string(remaining()) + " are left",
                  {name_});
    }
    const std::string_view slice = bytes_.substr(0, static_cast<std::size_t>(n));
    bytes_.remove_prefix(static_cast<std::size_t>(n));
    position_ += n;
    return slice;
  }

  template <class T>
  T read(std::string_view what) {
    T value{};
    take(sizeof value, what).copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }

 private:
  std::string_view bytes_;
  std::string name_;
  std::int64_t position_ = 0;
};

}  // namespace stope::io
