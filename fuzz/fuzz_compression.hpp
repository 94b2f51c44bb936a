// Shared by the fuzz targets of compressed input. Random bytes are expanded within the budget, or give a stope::Error.
// Our compressor takes them in two pieces, and its output expands to them again.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/progress.hpp"
#include "fuzz_table.hpp"
#include "io/compress.hpp"
#include "io/inflate.hpp"
#include "stope/run.hpp"

namespace stope::fuzz {

inline std::optional<std::string> expand(std::string_view bytes, io::Compression compression) {
  constexpr std::int64_t kBudget = std::int64_t{1} << 16;
  try {
    const RunOptions run;
    PhaseProgress progress(run, "decompress", std::ssize(bytes));
    const io::Inflated inflated = io::inflate(bytes, compression, "fuzz", kBudget, run.cancel, progress);
    require(inflated.size >= 0 && inflated.size <= kBudget && inflated.size <= inflated.buffer.size());
    return std::string(inflated.buffer.data(), static_cast<std::size_t>(inflated.size));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_data || error.code() == ErrorCode::out_of_memory);
    return std::nullopt;
  }
}

/// Tests one input of a target; the suffix of `path` asks for `compression`.
inline int expand_and_compress(const std::uint8_t* data, std::size_t size, io::Compression compression,
                               std::string_view path) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  expand(bytes, compression);
  // Setting up a compressor costs a hundred times as much as the rest, so only every sixteenth input does it.
  if (size == 0 || (data[0] & 15) != 0) return 0;
  std::string packed;
  const auto compressor = io::Compressor::for_path(path);
  const std::size_t half = std::min(size, static_cast<std::size_t>(data[size - 1]));
  compressor->add(bytes.substr(0, half), packed);
  compressor->add(bytes.substr(half), packed);
  compressor->finish(packed);
  const std::optional<std::string> back = expand(packed, compression);
  require(back.has_value() && *back == bytes);
  return 0;
}

}  // namespace stope::fuzz
