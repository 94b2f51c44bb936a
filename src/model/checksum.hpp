// CRC-64 of model files: it detects every single flipped bit and every burst of up to 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

#include "stope/run.hpp"

namespace stope::model {

/// CRC-64/XZ (polynomial 0x42f0e1eba9ea3693, reflected). Bytes may come piece by piece.
class Crc64 {
 public:
  void add(std::string_view bytes);
  std::uint64_t value() const { return ~state_; }

 private:
  std::uint64_t state_ = ~std::uint64_t{0};
};

/// The CRC-64/XZ of `bytes`; the threads of the run take a piece each. Throws cancelled.
std::uint64_t checksum(std::string_view bytes, const RunOptions& run);

}  // namespace stope::model
