// Compression by gzip and zstd, piece by piece. inflate.hpp is the reverse.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stope::io {

/// One compressed stream. Equal bytes give equal output, whatever their pieces: there are no time stamps, and levels
/// are fixed.
class Compressor {
 public:
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Compresses `bytes`, and appends the output that is ready to `out`.
  virtual void add(std::string_view bytes, std::string& out) = 0;
  /// Appends the rest of the output.
  virtual void finish(std::string& out) = 0;

  /// The compressor that a path's suffix asks for (.gz, .zst), or null. Throws out_of_memory.
  static std::unique_ptr<Compressor> for_path(std::string_view path);

 protected:
  Compressor() = default;
};

}  // namespace stope::io
