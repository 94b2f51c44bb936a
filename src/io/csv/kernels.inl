// The bodies of kernels.hpp, compiled once per instruction set by kernels_<level>.cpp (base/simd/target_region.hpp).

namespace {

// The kinds of 64 bytes; bit i stands for byte i.
struct Masks {
  std::uint64_t newline = 0, cr = 0, quote = 0, separator = 0;
  bool suspicious = false;
};

#if defined(STOPE_AVX512)

[[gnu::always_inline]] inline Masks masks_of(const char* p, char separator) {
  const __m512i x = _mm512_loadu_si512(p);
  Masks m;
  m.newline = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\n'));
  m.cr = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('\r'));
  m.quote = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8('"'));
  m.separator = _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(separator));
  // x | (x - 1) has its top bit set for zero and for every byte above 127.
  const __m512i odd = _mm512_or_si512(x, _mm512_sub_epi8(x, _mm512_set1_epi8(1)));
  m.suspicious = _mm512_movepi8_mask(odd) != 0;
  return m;
}

#elif defined(STOPE_AVX2)

[[gnu::always_inline]] inline std::uint64_t equal_mask(__m256i low, __m256i high, char c) {
  const __m256i wanted = _mm256_set1_epi8(c);
  const auto a = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  const auto b = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
  return a | static_cast<std::uint64_t>(b) << 32;
}

[[gnu::always_inline]] inline Masks masks_of(const char* p, char separator) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(p + 32));
  Masks m;
  m.newline = equal_mask(low, high, '\n');
  m.cr = equal_mask(low, high, '\r');
  m.quote = equal_mask(low, high, '"');
  m.separator = equal_mask(low, high, separator);
  // x | (x - 1) has its top bit set for zero and for every byte above 127.
  const __m256i one = _mm256_set1_epi8(1);
  const __m256i odd = _mm256_or_si256(_mm256_or_si256(low, _mm256_sub_epi8(low, one)),
                                      _mm256_or_si256(high, _mm256_sub_epi8(high, one)));
  m.suspicious = _mm256_movemask_epi8(odd) != 0;
  return m;
}

#else

[[gnu::always_inline]] inline Masks masks_of(const char* p, char separator) {
  Masks m;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    const char c = p[i];
    m.newline |= c == '\n' ? bit : 0;
    m.cr |= c == '\r' ? bit : 0;
    m.quote |= c == '"' ? bit : 0;
    m.separator |= c == separator ? bit : 0;
    m.suspicious |= c == '\0' || (c & 0x80) != 0;
  }
  return m;
}

#endif

// Bit i of the result is the parity of bits 0..i.
[[gnu::always_inline]] inline std::uint64_t prefix_xor(std::uint64_t x) {
  x ^= x << 1;
  x ^= x << 2;
  x ^= x << 4;
  x ^= x << 8;
  x ^= x << 16;
  x ^= x << 32;
  return x;
}

[[gnu::always_inline]] inline std::uint64_t low_bits(std::int64_t n) {
  return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
}

static bool is_end(const char* text, std::int64_t i, std::int64_t n) {
  return text[i] == '\n' || (text[i] == '\r' && (i + 1 == n || text[i + 1] != '\n'));
}

// Adds the record ends of the block at `at` to one guess.
[[gnu::always_inline]] inline void count_in(EndCount& count, int guess, std::int64_t at, std::uint64_t ends,
                                             std::uint64_t empty) {
  if (ends == 0) return;
  if (count.first_end[guess] < 0) {
    const int bit = __builtin_ctzll(ends);
    count.first_end[guess] = at + bit;
    count.first_is_empty[guess] = (empty >> bit & 1) != 0;
  }
  count.ends[guess] += __builtin_popcountll(ends);
  count.empty[guess] += __builtin_popcountll(ends & empty);
}

static EndCount count_ends(const char* text, std::int64_t begin, std::int64_t end, std::int64_t n, bool line_start) {
  EndCount count;
  // The record ends and CRs among the two bytes before the block, in the top bits.
  std::uint64_t before_ends = 0, before_cr = 0;
  if (line_start) {
    before_ends = std::uint64_t{1} << 63;
  } else {
    if (begin >= 1 && is_end(text, begin - 1, n)) before_ends |= std::uint64_t{1} << 63;
    if (begin >= 2 && is_end(text, begin - 2, n)) before_ends |= std::uint64_t{1} << 62;
    if (begin >= 1 && text[begin - 1] == '\r') before_cr = std::uint64_t{1} << 63;
  }
  std::uint64_t inside = 0;  // all ones where an odd number of quotes came before
  char tail[128];
  for (std::int64_t at = begin; at < end; at += 64) {
    const char* p = text + at;
    if (at + 65 > n) {  // the last block of the text: bytes behind it must not be read
      std::memset(tail, 0, sizeof tail);
      std::memcpy(tail, p, static_cast<std::size_t>(n - at));
      p = tail;
    }
    const Masks m = masks_of(p, '\n');
    const std::uint64_t valid = low_bits(end - at);
    if ((m.quote | m.cr | before_cr) == 0) {  // the usual block: no quote, no CR
      const std::uint64_t empty = m.newline & (m.newline << 1 | before_ends >> 63);
      count_in(count, inside == 0 ? 0 : 1, at, m.newline & valid, empty);
      before_ends = m.newline;
      continue;
    }
    const std::uint64_t lone_cr = m.cr & ~(m.newline >> 1 | static_cast<std::uint64_t>(p[64] == '\n') << 63);
    const std::uint64_t ends = m.newline | lone_cr;
    const std::uint64_t after_end = ends << 1 | before_ends >> 63;
    const std::uint64_t crlf_after_end = (m.cr << 1 | before_cr >> 63) & (ends << 2 | before_ends >> 62);
    const std::uint64_t empty = ends & (after_end | crlf_after_end);
    const std::uint64_t quotes = m.quote & valid;
    const std::uint64_t quoted = quotes == 0 ? inside : prefix_xor(quotes) ^ inside;
    count_in(count, 0, at, ends & valid & ~quoted, empty);
    count_in(count, 1, at, ends & valid & quoted, empty);
    before_ends = ends;
    before_cr = m.cr;
    inside = 0 - (quoted >> 63);
    if ((__builtin_popcountll(quotes) & 1) != 0) count.odd_quotes = !count.odd_quotes;
  }
  return count;
}

// Writes the positions of the set bits. Up to 63 entries behind the last one are overwritten with anything.
#if defined(STOPE_AVX512)

// The masked forms want every lane. The unmasked forms have undefined inputs, which gcc 12 takes for a mistake.
[[gnu::always_inline]] inline void put_16(std::uint32_t* to, __m512i base, __m128i bytes) {
  _mm512_storeu_si512(to, _mm512_add_epi32(base, _mm512_maskz_cvtepu8_epi32(0xFFFF, bytes)));
}

[[gnu::always_inline]] inline std::uint32_t* write_bits(std::uint64_t bits, std::uint32_t offset, std::uint32_t* to) {
  const int n = __builtin_popcountll(bits);
  const __m512i positions = _mm512_maskz_compress_epi8(bits, _mm512_load_si512(kByteNumbers.numbers));
  const __m512i base = _mm512_set1_epi32(static_cast<int>(offset));
  put_16(to, base, _mm512_maskz_extracti32x4_epi32(15, positions, 0));
  if (n > 16) {  // fields of at most three characters
    put_16(to + 16, base, _mm512_maskz_extracti32x4_epi32(15, positions, 1));
    put_16(to + 32, base, _mm512_maskz_extracti32x4_epi32(15, positions, 2));
    put_16(to + 48, base, _mm512_maskz_extracti32x4_epi32(15, positions, 3));
  }
  return to + n;
}

#else

[[gnu::always_inline]] inline std::uint32_t* write_bits(std::uint64_t bits, std::uint32_t offset, std::uint32_t* to) {
  const int n = __builtin_popcountll(bits);
  // Stores eight at a time without a test: mispredicting the loop's end costs more than eight needless stores.
  for (int done = 0; done < n; done += 8) {
    for (int i = 0; i < 8; ++i) {
      to[done + i] = offset + static_cast<std::uint32_t>(__builtin_ctzll(bits | std::uint64_t{1} << 63));
      bits &= bits - 1;
    }
  }
  return to + n;
}

#endif

static FieldIndex index_fields(const char* text, std::int64_t size, char separator, std::int64_t max_fields,
                               std::uint32_t origin, std::uint32_t* ends) {
  FieldIndex index;
  std::uint32_t* to = ends;
  std::uint64_t inside = 0;  // all ones within quotes
  std::uint64_t before = 1;  // the byte before the block may precede an opening quote
  std::uint64_t irregular = 0;
  bool suspicious = false;
  // Offsets have 32 bits. A batch that reaches further is left to the grammar (record.hpp), which reports the record's
  // length.
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 32) - 256;
  if (size > kFarthest - origin) size = kFarthest - origin;
  for (std::int64_t at = 0; at < size && to - ends < max_fields; at += 64) {
    const char* p = text + at;
    Masks m = masks_of(p, separator);
    suspicious |= m.suspicious;
    const std::uint64_t valid = low_bits(size - at);
    const std::uint64_t newline = m.newline & valid;
    std::uint64_t bits = (m.separator | m.newline) & valid;
    std::uint64_t lone_cr = m.cr & ~(m.newline >> 1);
    // Whether the CR of bit 63 is alone shows only in the byte behind the block.
    if ((lone_cr >> 63) != 0 && p[64] == '\n') lone_cr &= ~(std::uint64_t{1} << 63);
    lone_cr &= valid;
    std::uint64_t newlines = newline;
    if ((m.quote | inside) != 0) {
      const std::uint64_t quotes = m.quote & valid;
      const std::uint64_t quoted = prefix_xor(quotes) ^ inside;
      const std::uint64_t opening = quotes & quoted, closing = quotes & ~quoted;
      const bool edge = p[64] == '\n' || p[64] == separator || p[64] == '\r' || p[64] == '"';
      const std::uint64_t may_precede = (bits | quotes) << 1 | before;
      const std::uint64_t may_follow = (bits | m.cr | quotes) >> 1 | static_cast<std::uint64_t>(edge) << 63;
      irregular |= (opening & ~may_precede) | (closing & ~may_follow);
      before = (bits | quotes) >> 63;
      bits &= ~quoted;
      newlines &= ~quoted;
      lone_cr &= ~quoted;
      inside = 0 - (quoted >> 63);
    } else {
      before = bits >> 63;
    }
    irregular |= lone_cr;
    index.n_newlines += __builtin_popcountll(newlines);
    to = write_bits(bits, origin + static_cast<std::uint32_t>(at), to);
  }
  index.n_fields = to - ends;
  index.irregular = irregular != 0;
  index.suspicious = suspicious;
  return index;
}

#if defined(STOPE_AVX512) || defined(STOPE_AVX2)

// Bit i: character i is no digit. `digits` are characters less '0'.
[[gnu::always_inline]] inline std::uint32_t not_digits(__m128i digits) {
#if defined(STOPE_AVX512)
  return _mm_cmpgt_epu8_mask(digits, _mm_set1_epi8(9));
#else
  const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
  return ~static_cast<std::uint32_t>(_mm_movemask_epi8(is_digit)) & 0xFFFFU;
#endif
}

// The number of the first `length` digits without the one at `point`, at most 16.
[[gnu::always_inline]] inline std::uint64_t number_of(__m128i digits, std::uint32_t length, std::uint32_t point) {
  const auto* entry = reinterpret_cast<const __m128i*>(kShuffleTable.entries[length][point]);
  const __m128i aligned = _mm_shuffle_epi8(digits, _mm_load_si128(entry));
  const __m128i pairs = _mm_maddubs_epi16(aligned, _mm_set1_epi16(0x010A));  // 10 * a + b
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(0x00010064));   // 100 * a + b
  const __m128i packed = _mm_packus_epi32(fours, fours);
  const __m128i eights = _mm_madd_epi16(packed, _mm_set1_epi32(0x00012710));  // 10000 * a + b
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  return (both & 0xFFFFFFFF) * 100000000 + (both >> 32);
}

// Sets the sign by its bit: signs follow no pattern, and a branch on them would be mispredicted half the time.
[[gnu::always_inline]] inline double with_sign(double magnitude, std::uint32_t negative) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) | static_cast<std::uint64_t>(negative) << 63);
}

// digits / 10^n_decimals, correctly rounded, for 1 to 31 decimals. False where 64 bits of the power cannot tell how to
// round, once in a thousand times: the product with them is less than the true one, by less than 2^64. So the true one
// is on the other side of half a unit only if its upper word, without the bits of the double, is half a unit less one.
// (The idea is that of Lemire, Number parsing at a gigabyte per second, 2021.)
[[gnu::always_inline]] inline bool divide(std::uint64_t digits, std::uint32_t n_decimals, double& value) {
  __extension__ using Wide = unsigned __int128;
  if (digits == 0) return false;
  const InversePower power = kInversePowers[n_decimals];
  const int shift = __builtin_clzll(digits);
  const auto upper = static_cast<std::uint64_t>(static_cast<Wide>(digits << shift) * power.significand >> 64);
  const auto n_dropped = static_cast<std::int32_t>(10 + (upper >> 63));  // 53 bits stay
  const std::uint64_t half = std::uint64_t{1} << (n_dropped - 1);
  const std::uint64_t dropped = upper & (2 * half - 1);
  if (dropped == half - 1) return false;
  const std::uint64_t significand = (upper >> n_dropped) + (dropped >= half ? 1 : 0);
  const std::int32_t exponent = 64 + n_dropped + power.exponent - shift;
  // The significand's bit 52 is not stored; one that was rounded up to 2^53 adds one to the exponent.
  constexpr std::int32_t kBias = 1075 - 1;
  value = std::bit_cast<double>((static_cast<std::uint64_t>(exponent + kBias) << 52) + significand);
  return true;
}

// A decimal of 17 to 32 characters with a point: what doubles written in full look like. False for one of more than 17
// digits, which a warning may tell of.
[[gnu::always_inline]] inline bool long_number(const char* p, std::uint32_t length, char decimal, double& value) {
  const std::uint32_t n_tail = length - 16;
  if (n_tail > 16) return false;
  const __m128i head = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p)), _mm_set1_epi8('0'));
  const __m128i tail = _mm_sub_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p + 16)), _mm_set1_epi8('0'));
  const std::uint32_t behind = std::uint32_t{1} << n_tail;
  const std::uint32_t other = not_digits(head) | (not_digits(tail) & (behind - 1)) << 16;
  if (other == 0 || (other & (other - 1)) != 0) return false;
  const auto point = static_cast<std::uint32_t>(__builtin_ctz(other));
  const std::uint32_t n_decimals = length - 1 - point;
  if (p[point] != decimal || n_decimals == 0) return false;
  const std::uint32_t within = point < 16 ? 0 : 1;  // the tail
  const std::uint64_t first = number_of(head, 16, within == 0 ? point : 16);
  const std::uint64_t last = number_of(tail, n_tail, within == 0 ? n_tail : point - 16);
  const std::uint32_t n_last = n_tail - within;
  if (first >= kWholePowers[17 - n_last]) return false;
  return divide(first * kWholePowers[n_last] + last, n_decimals, value);
}

// The value of a field in plain form; false for any other form. `length` > 0.
[[gnu::always_inline]] inline bool plain_number(const char* p, std::uint32_t length, char decimal, double& value,
                                                 std::uint32_t& points, std::uint32_t& zeros) {
  // 1 for a minus, computed by arithmetic: gcc 12 would turn a comparison into a byte-wide set, which waits for the
  // register's last full value, the result of the field before.
  const std::uint32_t negative = ((static_cast<std::uint32_t>(static_cast<unsigned char>(*p)) ^ '-') - 1) >> 31;
  p += negative;
  length -= negative;
  double magnitude = 0;
  if (length - 1 >= 16) {
    if (length == 0 || !long_number(p, length, decimal, magnitude)) return false;
    points |= 1;
    value = with_sign(magnitude, negative);
    return true;
  }
  const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(p));
  const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
  const std::uint32_t behind = std::uint32_t{1} << length;
  const std::uint32_t other = not_digits(digits) & (behind - 1);
  if ((other & (other - 1)) != 0) return false;
  const auto point = static_cast<std::uint32_t>(__builtin_ctz(other | behind));
  const std::uint32_t has_point = other != 0 ? 1 : 0;
  if (has_point != 0 && (p[point] != decimal || length == 1)) return false;
  points |= has_point;
  // 1 for digits alone of which the first is 0 and not the last: the other three words are zero.
  zeros |= ((static_cast<std::uint32_t>(static_cast<unsigned char>(*p)) ^ '0') + other + ((length - 2) >> 31) - 1) >> 31;
  const std::uint64_t mantissa = number_of(digits, length, point);
  if (mantissa >= std::uint64_t{1} << 53) return false;
  magnitude = static_cast<double>(static_cast<std::int64_t>(mantissa)) / kPowersOfTen[length - point - has_point];
  value = with_sign(magnitude, negative);
  return true;
}

#else

[[gnu::always_inline]] inline bool plain_number(const char* p, std::uint32_t length, char decimal, double& value,
                                                 std::uint32_t& points, std::uint32_t& zeros) {
  const bool negative = *p == '-';
  p += negative ? 1 : 0;
  length -= negative ? 1 : 0;
  if (length - 1 >= 16) return false;  // also catches zero
  std::uint64_t mantissa = 0;
  std::uint32_t point = length, n_digits = 0;
  for (std::uint32_t i = 0; i < length; ++i) {
    const auto digit = static_cast<std::uint32_t>(static_cast<unsigned char>(p[i])) - '0';
    if (digit <= 9) {
      mantissa = mantissa * 10 + digit;
      ++n_digits;
    } else if (p[i] == decimal && point == length) {
      point = i;
    } else {
      return false;
    }
  }
  points |= point == length ? 0 : 1;
  zeros |= point == length && length > 1 && *p == '0' ? 1 : 0;
  if (n_digits == 0 || mantissa >= std::uint64_t{1} << 53) return false;
  const double magnitude = static_cast<double>(mantissa) / kPowersOfTen[point == length ? 0 : length - point - 1];
  value = negative ? -magnitude : magnitude;
  return true;
}

#endif

template <bool kLast>
static PlainNumbers plain_numbers_of(const ColumnSlice& column, char decimal, double* out, std::uint32_t* rest) {
  PlainNumbers numbers;
  std::uint32_t points = 0, zeros = 0;
  const ColumnSlice c = column;  // a copy: its members then stay in registers across the stores
  for (std::int64_t r = 0; r < c.n_rows; ++r) {
    const std::uint32_t begin = c.begins[r * c.stride] + c.skip;
    std::uint32_t end = c.ends[r * c.stride];
    if (kLast && end > begin && c.base[end - 1] == '\r') --end;
    if (end == begin) {
      out[r] = std::numeric_limits<double>::quiet_NaN();
      ++numbers.n_empty;
    } else if (!plain_number(c.base + begin, end - begin, decimal, out[r], points, zeros)) {
      rest[numbers.n_rest++] = static_cast<std::uint32_t>(r);
    }
  }
  numbers.points = points != 0;
  numbers.leading_zeros = zeros != 0;
  return numbers;
}

static PlainNumbers plain_numbers(const ColumnSlice& column, char decimal, double* out, std::uint32_t* rest) {
  return column.last ? plain_numbers_of<true>(column, decimal, out, rest)
                     : plain_numbers_of<false>(column, decimal, out, rest);
}

}  // namespace

const Kernels kKernels = {STOPE_LEVEL_NAME, count_ends, index_fields, plain_numbers};
