// The text of a file as the kernels need it: readable for kPadding bytes behind every segment.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/checked.hpp"
#include "io/csv/kernels.hpp"
#include "io/csv/segments.hpp"
#include "stope/buffer.hpp"

namespace stope::io::csv {

/// The last segment is a copy with room behind it, and ends with a line feed if the file does not. All others lie in
/// the file.
class PaddedText {
 public:
  /// `text` outlives this object. `last` is its last segment.
  PaddedText(std::string_view text, const Segment& last) : text_(text), tail_begin_(last.begin) {
    const std::string_view part = text.substr(static_cast<std::size_t>(last.begin));
    const auto n = static_cast<std::int64_t>(part.size());
    tail_ = Buffer<char>(checked::add(n, kPadding + 1));
    std::memcpy(tail_.data(), part.data(), part.size());
    std::memset(tail_.data() + n, 0, static_cast<std::size_t>(kPadding + 1));
    const bool ended = part.empty() || part.back() == '\n' || part.back() == '\r';
    if (!ended) tail_.data()[n] = '\n';
    end_ = tail_begin_ + n + (ended ? 0 : 1);
  }

  /// The bytes from an offset of the text on, as far as its segment goes.
  const char* at(std::int64_t offset) const {
    return offset >= tail_begin_ ? tail_.data() + (offset - tail_begin_) : text_.data() + offset;
  }
  /// Where a segment ends, the added line feed included.
  std::int64_t end_of(const Segment& segment) const { return segment.begin >= tail_begin_ ? end_ : segment.end; }
  std::int64_t tail_begin() const { return tail_begin_; }

 private:
  std::string_view text_;
  std::int64_t tail_begin_, end_;
  Buffer<char> tail_;
};

}  // namespace stope::io::csv
