// Expands a whole gzip or zstd input into memory, within a budget.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stope/buffer.hpp"
#include "stope/run.hpp"

namespace stope::io {

enum class Compression { none, gzip, zstd };

/// Decides by magic number. A file shorter than its magic number is not compressed.
Compression compression_of(std::string_view bytes);

/// Expanded bytes: the first `size` elements of `buffer`.
struct Inflated {
  Buffer<char> buffer;
  std::int64_t size = 0;
};

/// Expands all members (gzip) or frames (zstd) of `bytes`, one after the other; zeros after the last gzip member are
/// padding. Throws invalid_file (damaged, cut short, trailing junk), out_of_memory before it would hold more than
/// `budget` bytes at once, cancelled.
Inflated inflate(std::string_view bytes, Compression compression, const std::string& name, std::int64_t budget,
                 const CancelToken& cancel);

}  // namespace stope::io
