// gzip and zstd, the other way round than inflate.hpp: a stream of bytes compressed piece by piece.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stope::io {

/// One compressed stream. The same bytes give the same output, whatever pieces they come in: no time stamps, fixed
/// levels.
class Compressor {
 public:
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// Compresses `bytes`, appending to `out` what is ready.
  virtual void add(std::string_view bytes, std::string& out) = 0;
  /// Appends the rest.
  virtual void finish(std::string& out) = 0;

  /// The compressor a path's suffix asks for (.gz, .zst), or null. Throws out_of_memory.
  static std::unique_ptr<Compressor> for_path(std::string_view path);

 protected:
  Compressor() = default;
};

}  // namespace stope::io
