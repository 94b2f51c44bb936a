// CRC-64 by carry-less multiplication (Gopal and others, Intel 2009): lanes of 16 bytes are multiplied forward over the
// bytes between them and their next ones, and only the last lane is reduced.
#include "model/crc64.hpp"

#define STOPE_CLMUL
#include "base/simd/target_region.hpp"

#if defined(STOPE_CLMUL)

STOPE_TARGET_REGION
namespace stope::model {
namespace {

constexpr int kLanes = 8;  // hides the latency of the multiplication, 3 to 7 cycles
constexpr std::size_t kLaneBytes = sizeof(__m128i);

// Multiplies a lane by x^bits. The product of two reflected numbers comes out multiplied by x once more, hence the -1;
// the low half of a lane stands for the powers above 63.
STOPE_INLINE __m128i forward(__m128i lane, __m128i powers) {
  return _mm_xor_si128(_mm_clmulepi64_si128(lane, powers, 0x00), _mm_clmulepi64_si128(lane, powers, 0x11));
}
template <std::uint64_t kBits>
STOPE_INLINE __m128i powers_for() {
  constexpr std::uint64_t kLow = crc_power_of_x(kBits + 64 - 1), kHigh = crc_power_of_x(kBits - 1);
  return _mm_set_epi64x(static_cast<long long>(kHigh), static_cast<long long>(kLow));
}

STOPE_INLINE __m128i lane_at(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

}  // namespace

std::uint64_t crc_by_clmul(std::uint64_t state, std::string_view bytes) {
  constexpr std::size_t kStep = kLanes * kLaneBytes;
  if (bytes.size() < kStep) return crc_by_table(state, bytes);
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  __m128i lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = lane_at(at + static_cast<std::size_t>(i) * kLaneBytes);
  lanes[0] = _mm_xor_si128(lanes[0], _mm_set_epi64x(0, static_cast<long long>(state)));
  at += kStep;

  const __m128i over_all = powers_for<8 * kStep>();
  for (; static_cast<std::size_t>(end - at) >= kStep; at += kStep) {
    for (int i = 0; i < kLanes; ++i) {
      const __m128i next = lane_at(at + static_cast<std::size_t>(i) * kLaneBytes);
      lanes[i] = _mm_xor_si128(forward(lanes[i], over_all), next);
    }
  }

  const __m128i over_one = powers_for<8 * kLaneBytes>();
  __m128i rest = lanes[0];
  for (int i = 1; i < kLanes; ++i) rest = _mm_xor_si128(forward(rest, over_one), lanes[i]);
  for (; static_cast<std::size_t>(end - at) >= kLaneBytes; at += kLaneBytes) {
    rest = _mm_xor_si128(forward(rest, over_one), lane_at(at));
  }
  char last[kLaneBytes];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last), rest);
  state = crc_by_table(0, {last, kLaneBytes});
  return crc_by_table(state, {at, static_cast<std::size_t>(end - at)});
}

}  // namespace stope::model
STOPE_TARGET_REGION_END

#else

namespace stope::model {

std::uint64_t crc_by_clmul(std::uint64_t state, std::string_view bytes) {
  return crc_by_table(state, bytes);
}

}  // namespace stope::model

#endif
