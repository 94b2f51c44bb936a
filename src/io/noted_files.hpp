// The files that a handler of signals has to know: mapped inputs, and temporary files of outputs
// (stope/lost_input.hpp). The notes lie in fixed memory, so that a handler can read them while other threads write
// some. There is room for 256; what finds none is not noted.
#pragma once

#include <cstdint>
#include <string_view>

namespace stope::io {

/// One note, from its making to its end.
class NotedFile {
 public:
  NotedFile() = default;
  /// An input that is mapped at `begin`. `name` must be fit to be shown.
  NotedFile(std::string_view name, const void* begin, std::int64_t size) noexcept;
  /// The temporary file of an output.
  explicit NotedFile(std::string_view path) noexcept;
  ~NotedFile() { forget(); }
  NotedFile(NotedFile&& other) noexcept;
  NotedFile& operator=(NotedFile&& other) noexcept;

  void forget() noexcept;

 private:
  int slot_ = -1;
};

}  // namespace stope::io
