// The bytes of a model file in memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "model/checksum.hpp"
#include "model/container.hpp"
#include "predict/model_cases.hpp"
#include "stope/model.hpp"

namespace stope::testing_models {

inline std::string bytes_of(const model::Content& content) {
  std::string bytes;
  model::write_content(content, [&bytes](std::string_view piece) { bytes += piece; });
  return bytes;
}

inline model::Content content_of(std::string_view bytes) {
  return model::read_content({bytes, nullptr, "a.stope", 0}, {});
}

// Gives changed bytes a checksum that fits, as a careful attacker would.
inline std::string resealed(std::string bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::memcpy(bytes.data() + 16, &size, sizeof size);
  model::Crc64 sum;
  sum.add(std::string_view(bytes).substr(0, bytes.size() - 8));
  const std::uint64_t value = sum.value();
  std::memcpy(bytes.data() + bytes.size() - 8, &value, sizeof value);
  return bytes;
}

}  // namespace stope::testing_models
