// The strings of an Arrow array, one after the other, whatever its layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/arrow/chunk.hpp"

namespace stope::io::arrow {

/// Reads the strings of a chunk of the type utf8, large_utf8 or utf8_view. Everything that says where a string lies is
/// checked as far as the interface tells.
class Strings {
 public:
  /// Throws invalid_data if the text is missing or a string view gives its buffers negative sizes. `row0` is the number
  /// of element 0 in messages.
  Strings(const Field& field, const Chunk& chunk, std::int64_t row0);

  /// Element i, which must be there. Throws invalid_data, with the row, for an offset that falls or is negative, a
  /// negative length, or a view outside its buffers.
  std::string_view at(std::int64_t i) const;

 private:
  [[noreturn]] void refuse(std::int64_t i, const std::string& what) const;
  template <class Offset>
  std::string_view between(std::int64_t i) const;
  std::string_view view(std::int64_t i) const;

  const Field& field_;
  const Chunk& chunk_;
  std::int64_t row0_;
};

}  // namespace stope::io::arrow
