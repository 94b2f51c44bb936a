// The bytes of model files (docs/formats/models.md). The reader trusts none of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "io/bytes.hpp"
#include "model/content.hpp"
#include "stope/model.hpp"
#include "stope/run.hpp"

namespace stope::model {

inline constexpr std::string_view kMagic = "\x89STOPE\r\n";  // like PNG's: shows what text-mode copying does to a file
inline constexpr std::uint32_t kVersion = 1;

/// Hands a file's bytes to `sink`, in order. Throws unsupported for strings of 2^32 bytes or more.
void write_content(const Content& content, const std::function<void(std::string_view)>& sink);

/// Reads a file's content. Throws invalid_data for anything but a whole, undamaged file of this version; a newer
/// version is named as such. Tables::shared: columns lie in the bytes, where these have an owner and begin at a
/// multiple of
/// 8. Copied tables beyond half of the memory budget go to a mapped file.
Content read_content(const io::Bytes& bytes, const RunOptions& run, Tables tables = Tables::copied);

/// Whether bytes begin as a model file does.
bool looks_like_model(std::string_view bytes);

}  // namespace stope::model
