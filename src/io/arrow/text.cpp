#include "io/arrow/text.hpp"

#include <array>
#include <cstring>

namespace stope::io::arrow {

Strings::Strings(const Field& field, const Chunk& chunk, std::int64_t row0)
    : field_(field), chunk_(chunk), row0_(row0) {
  if (field.type.kind != Kind::utf8_view || chunk.length == 0) return;
  const std::int64_t n_texts = chunk.array->n_buffers - 3;
  for (std::int64_t b = 0; b < n_texts; ++b) {
    std::int64_t size = 0;
    std::memcpy(&size, chunk.buffer(n_texts + 2) + b * std::int64_t{sizeof size}, sizeof size);
    if (size >= 0 && (size == 0 || chunk.buffer(2 + b) != nullptr)) continue;
    field.refuse("buffer " + std::to_string(b) + " of a string view has " + std::to_string(size) + " bytes at " +
                 (size < 0 ? "its address" : "a null pointer"));
  }
}

std::string_view Strings::at(std::int64_t i) const {
  switch (field_.type.kind) {
    case Kind::utf8: return between<std::int32_t>(i);
    case Kind::large_utf8: return between<std::int64_t>(i);
    default: return view(i);
  }
}

void Strings::refuse(std::int64_t i, const std::string& what) const {
  field_.refuse(what, row0_ + i);
}

template <class Offset>
std::string_view Strings::between(std::int64_t i) const {
  const auto begin = chunk_.value<Offset>(1, i);
  const auto end = chunk_.value<Offset>(1, i + 1);
  if (begin < 0 || end < begin) {
    refuse(i, "its string lies between the offsets " + std::to_string(begin) + " and " + std::to_string(end));
  }
  if (begin == end) return {};
  if (chunk_.buffer(2) == nullptr) refuse(i, "its string lies in a null pointer");
  return {chunk_.buffer(2) + begin, static_cast<std::size_t>(end - begin)};
}

std::string_view Strings::view(std::int64_t i) const {
  // Length; then the text itself, or its first 4 bytes, the number of its buffer and the offset there.
  constexpr std::int32_t kInline = 12;
  const char* const at = chunk_.buffer(1) + (chunk_.begin + i) * 16;
  std::array<std::int32_t, 4> words{};
  std::memcpy(words.data(), at, sizeof words);
  const auto [length, prefix, buffer, offset] = words;
  static_cast<void>(prefix);
  if (length < 0) refuse(i, "its string view has the length " + std::to_string(length));
  if (length <= kInline) return {at + 4, static_cast<std::size_t>(length)};
  const std::int64_t n_texts = chunk_.array->n_buffers - 3;
  if (buffer < 0 || buffer >= n_texts || offset < 0) {
    refuse(i, "its string view lies in buffer " + std::to_string(buffer) + " of " + std::to_string(n_texts) +
                  " at offset " + std::to_string(offset));
  }
  std::int64_t size = 0;
  std::memcpy(&size, chunk_.buffer(n_texts + 2) + buffer * std::int64_t{sizeof size}, sizeof size);
  if (std::int64_t{offset} + length > size) {
    refuse(i, "its string view ends beyond the " + std::to_string(size) + " bytes of its buffer");
  }
  return {chunk_.buffer(2 + buffer) + offset, static_cast<std::size_t>(length)};
}

}  // namespace stope::io::arrow
