#include "model/checksum.hpp"

#include <array>
#include <cstddef>
#include <cstring>

namespace stope::model {
namespace {

using ByteTable = std::array<std::uint64_t, 256>;

// kTables[k][b]: what byte b does to the remainder when k more bytes follow. A step takes eight bytes, since k-NN
// models are as large as their tables ("slicing by 8": Kounavis and Berry, ISCC 2005).
constexpr std::array<ByteTable, 8> make_tables() {
  constexpr std::uint64_t kPolynomial = 0xc96c5795d7870f42;  // 0x42f0e1eba9ea3693 reflected
  std::array<ByteTable, 8> tables{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = rest;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr std::array<ByteTable, 8> kTables = make_tables();

}  // namespace

void Crc64::add(std::string_view bytes) {
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= state_;
    state_ = 0;
    for (std::size_t k = 0; k < 8; ++k) state_ ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) state_ = (state_ >> 8) ^ kTables[0][(state_ ^ static_cast<unsigned char>(c)) & 0xff];
}

}  // namespace stope::model
