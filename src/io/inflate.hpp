// Expands a whole gzip or zstd input into memory, within a budget.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/progress.hpp"
#include "stope/buffer.hpp"
#include "stope/run.hpp"

namespace stope::io {

enum class Compression { none, gzip, zstd };

/// Decides by the magic number. A file shorter than its magic number is not compressed.
Compression compression_of(std::string_view bytes);

/// The first `size` elements of `buffer` are the expanded bytes.
struct Inflated {
  Buffer<char> buffer;
  std::int64_t size = 0;
};

/// Expands all members (gzip) or frames (zstd) of `bytes`, one after the other. Zeros after the last gzip member are
/// padding. Throws invalid_data if the input is damaged, is cut short or has something else behind it. Throws
/// out_of_memory before it would hold more than `budget` bytes at once, and cancelled. `progress` counts `bytes`.
Inflated inflate(std::string_view bytes, Compression compression, const std::string& name, std::int64_t budget,
                 const CancelToken& cancel, PhaseProgress& progress);

}  // namespace stope::io
