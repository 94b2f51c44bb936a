// Every way to compute the checksum gives the one of the definition, bit by bit.
#include "model/checksum.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/random.hpp"
#include "base/simd/cpu.hpp"
#include "effort.hpp"
#include "expect_error.hpp"
#include "model/crc64.hpp"
#include "stope/error.hpp"

namespace stope::model {
namespace {

std::string random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.below(256));
  return bytes;
}

// The definition: one bit after the other.
std::uint64_t bit_by_bit(std::uint64_t state, std::string_view bytes) {
  for (const char c : bytes) {
    state ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0xc96c5795d7870f42 : 0);
  }
  return state;
}

TEST(Checksum, IsTheOneOfTheCatalogue) {
  Crc64 sum;
  sum.add("123456789");
  EXPECT_EQ(sum.value(), 0x995dc9bbdf1939faULL);  // CRC-64/XZ
  Crc64 pieces;
  for (const char* piece : {"1", "23", "", "456789"}) pieces.add(piece);
  EXPECT_EQ(pieces.value(), sum.value());
  EXPECT_EQ(checksum("123456789", {}), sum.value());
  EXPECT_EQ(checksum("", {}), 0U);
}

// Lengths straddle the kernel's steps of 16 and 128 bytes.
TEST(Checksum, KernelsAgreeForEveryLengthAndState) {
  if (!simd::has_clmul()) GTEST_SKIP() << "this CPU multiplies with carries only";
  const std::string bytes = random_bytes(1300, 1);
  Random random(2);
  for (std::size_t size = 0; size + 3 < bytes.size(); ++size) {
    const std::uint64_t state = size % 3 == 0 ? ~std::uint64_t{0} : random.next();
    const std::string_view view = std::string_view(bytes).substr(size % 4, size);
    const std::uint64_t slow = bit_by_bit(state, view);
    ASSERT_EQ(crc_by_table(state, view), slow) << size;
    ASSERT_EQ(crc_by_clmul(state, view), slow) << size;
  }
}

TEST(Checksum, PiecesOfThreadsMakeTheSameSum) {
  constexpr std::size_t kPiece = std::size_t{1} << 22;
  const std::string bytes = random_bytes(3 * kPiece + 100, 3);
  Random random(4);
  for (std::size_t size : {kPiece - 1, kPiece, kPiece + 1, 2 * kPiece, 3 * kPiece + 1, 3 * kPiece + 100}) {
    Crc64 whole;
    const std::string_view view = std::string_view(bytes).substr(0, size);
    whole.add(view);
    Crc64 cut;
    const auto at = static_cast<std::size_t>(random.below(size));
    cut.add(view.substr(0, at));
    cut.add(view.substr(at));
    EXPECT_EQ(cut.value(), whole.value()) << size << " cut at " << at;
    for (const int threads : {1, 2, 5}) {
      RunOptions run;
      run.threads = threads;
      EXPECT_EQ(checksum(view, run), whole.value()) << size << ", " << threads << " threads";
    }
  }
}

TEST(Checksum, StopsWhenItIsCancelled) {
  RunOptions run;
  run.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { checksum(random_bytes(100, 5), run); });
}

}  // namespace
}  // namespace stope::model
