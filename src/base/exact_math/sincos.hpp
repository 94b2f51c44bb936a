// Sine and cosine: the table shared with asin.hpp, Payne-Hanek reduction, sin() and cos().
#pragma once

#include <cstdint>

#include "base/exact_math/real.hpp"

namespace stope::math {

struct SinCosEntry {
  double sin_hi, sin_lo;  ///< sin(t): 26 bits, and the rest
  double cos_hi, cos_lo;  ///< cos(t): 26 bits, and the rest
};

/// sin and cos of t = i/64, i = 0..51 (up to pi/4).
STOPE_HD inline SinCosEntry sincos_entry(std::int64_t index) {
  // clang-format off
  static constexpr SinCosEntry kTable[52] = {
      {0.0, 0.0, 0x1.0p+0, 0.0},
      {0x1.fffaaa8p-7, 0x1.77776a76aa4e3p-34, 0x1.fffp-1, 0x1.55549f4a28a28p-29},
      {0x1.ffeaabp-6, -0x1.11179173501bfp-34, 0x1.ffc0018p-1, -0x1.556c16a76a892p-28},
      {0x1.7fdc01p-5, 0x1.97dd454cc8417p-36, 0x1.ff70068p-1, 0x1.fefccf674c4aap-28},
      {0x1.ffaaafp-5, -0x1.12b1254b45b4dp-33, 0x1.ff00158p-1, -0x1.5b059659af8f1p-28},
      {0x1.3facb1p-4, 0x1.68baad4dbcdd6p-31, 0x1.fe7034p-1, 0x1.29ef6ee340bcdp-29},
      {0x1.7f701p-4, 0x1.92a8720d7e169p-31, 0x1.fdc06cp-1, -0x1.0328c96737ea5p-30},
      {0x1.bf1b788p-4, -0x1.4be37142dcf7cp-31, 0x1.fcf0c8p-1, 0x1.d33623d47af0ep-34},
      {0x1.feaaefp-4, -0x1.7911ca35f9658p-32, 0x1.fc0155p-1, 0x1.3eade9b6d1e6ap-28},
      {0x1.1f0d3d8p-3, -0x1.40c5456ef950ap-33, 0x1.faf2228p-1, -0x1.c3b42d0a95671p-29},
      {0x1.3eb313p-3, -0x1.d14c9a5705333p-30, 0x1.f9c3408p-1, 0x1.3e621438b6d61p-28},
      {0x1.5e44fdp-3, -0x1.7b64356f44306p-33, 0x1.f874c3p-1, -0x1.e1130a7194538p-29},
      {0x1.7dc103p-3, -0x1.14352ba952bc7p-33, 0x1.f706bep-1, -0x1.84c791698c80cp-31},
      {0x1.9d252dp-3, 0x1.9d86246710f6p-32, 0x1.f57949p-1, -0x1.804c3470e2f96p-28},
      {0x1.bc6f85p-3, -0x1.239e6698f96a5p-31, 0x1.f3cc7cp-1, 0x1.d9e8b6f6f2e29p-28},
      {0x1.db9e16p-3, -0x1.2968c132e20d7p-33, 0x1.f20073p-1, 0x1.0cc93e6e50106p-30},
      {0x1.faaeed8p-3, -0x1.867544a2bb10ap-30, 0x1.f0154ap-1, -0x1.0422bd161f0b3p-30},
      {0x1.0cd00dp-2, -0x1.0c9bca67ec283p-30, 0x1.ee0b1f8p-1, 0x1.e0788dfc805b9p-28},
      {0x1.1c37d68p-2, -0x1.9ca3c4d73f12p-29, 0x1.ebe215p-1, -0x1.1220b0817cf89p-30},
      {0x1.2b8ddc8p-2, -0x1.e0a5b06eaac76p-29, 0x1.e99a4cp-1, 0x1.d3e6c15bb369dp-28},
      {0x1.3ad1298p-2, -0x1.2c584ffefc2abp-31, 0x1.e733eap-1, 0x1.93d3fa6f5d32bp-33},
      {0x1.4a00c98p-2, 0x1.879e90304774dp-29, 0x1.e4af148p-1, 0x1.95224dd2e6bfap-28},
      {0x1.591bcap-2, -0x1.7429a341c5a2ap-32, 0x1.e20bf48p-1, 0x1.acd6c0f4cfa8ap-29},
      {0x1.6821388p-2, 0x1.1c6bfb44eedcp-29, 0x1.df4ab4p-1, -0x1.4278a278b62ap-29},
      {0x1.7710258p-2, -0x1.44def616ead73p-29, 0x1.dc6b7e8p-1, 0x1.ccac89052cd92p-28},
      {0x1.85e7a1p-2, 0x1.4134a4b1481d3p-29, 0x1.d96e83p-1, -0x1.1cac47004f215p-30},
      {0x1.94a6be8p-2, 0x1.f546c4a58c7bp-30, 0x1.d653f08p-1, -0x1.837f80bb11b22p-30},
      {0x1.a34c92p-2, -0x1.9d799b0d18872p-29, 0x1.d31bf9p-1, -0x1.3941fce19f22dp-28},
      {0x1.b1d8308p-2, -0x1.66f4f4b5c4859p-29, 0x1.cfc6cf8p-1, 0x1.2956cfb16b6aap-28},
      {0x1.c048b18p-2, -0x1.3afd737300cc5p-32, 0x1.cc54aap-1, 0x1.594b970a770b1p-28},
      {0x1.ce9d2ep-2, 0x1.ea528f6d0375fp-29, 0x1.c8c5bf8p-1, 0x1.9c35086acf468p-30},
      {0x1.dcd4c18p-2, -0x1.66b1b2de56724p-29, 0x1.c51a488p-1, 0x1.c58baef72225ep-28},
      {0x1.eaee878p-2, -0x1.da7d080bc4da2p-29, 0x1.c152808p-1, -0x1.a482b06248445p-29},
      {0x1.f8e99e8p-2, -0x1.2a86d1cc4d5eap-31, 0x1.bd6ea3p-1, 0x1.0294f52637799p-29},
      {0x1.0362938p-1, 0x1.c69954b49cca2p-29, 0x1.b96eefp-1, -0x1.4ef7e3eba5c34p-30},
      {0x1.0a4022p-1, -0x1.61efff5bd90e8p-29, 0x1.b553a4p-1, 0x1.0c104e0c7fbcap-29},
      {0x1.110d0c8p-1, -0x1.a4b1e244dcecdp-28, 0x1.b11d04p-1, 0x1.62a4c623baac4p-29},
      {0x1.17c8e6p-1, -0x1.a2249fd94351ep-30, 0x1.accb528p-1, -0x1.09621a9c1255dp-29},
      {0x1.1e7343p-1, 0x1.1b2ba6122a3fap-28, 0x1.a85ed4p-1, 0x1.b9f0168cdf032p-28},
      {0x1.250bb9p-1, 0x1.bc45dd9ea3d02p-28, 0x1.a3d7dp-1, 0x1.a95ee752e48a2p-28},
      {0x1.2b91de8p-1, 0x1.44210ec0b91c5p-28, 0x1.9f368fp-1, -0x1.37683da3a4019p-28},
      {0x1.32054bp-1, 0x1.48bc4f7dad082p-29, 0x1.9a7b5ap-1, 0x1.b5328a2e459fap-28},
      {0x1.3865978p-1, -0x1.d4ebea910fadbp-28, 0x1.95a67ep-1, 0x1.963f97a0812efp-34},
      {0x1.3eb25dp-1, 0x1.b66a9cf906a3cp-28, 0x1.90b8478p-1, 0x1.376bdb780a77bp-31},
      {0x1.44eb38p-1, 0x1.cf386ab04a4f8p-29, 0x1.8bb1058p-1, 0x1.2ee48030c7c08p-28},
      {0x1.4b0fc48p-1, -0x1.55489efef25fbp-29, 0x1.869109p-1, -0x1.442c9cecc7002p-28},
      {0x1.511fap-1, -0x1.4265722b81d0cp-28, 0x1.8158a3p-1, 0x1.916d5ce21746fp-29},
      {0x1.571a698p-1, -0x1.92a64cf1bde26p-29, 0x1.7c0828p-1, -0x1.ec356238e7adbp-30},
      {0x1.5cffc18p-1, -0x1.4070f29a4d324p-29, 0x1.769fec8p-1, -0x1.aadee11827d5dp-29},
      {0x1.62cf498p-1, 0x1.21ac7884899ebp-29, 0x1.712047p-1, -0x1.62261ebda4f5bp-31},
      {0x1.6888a5p-1, -0x1.ecb4d15adf4dep-29, 0x1.6b898f8p-1, 0x1.4f7dae915ac78p-28},
      {0x1.6e2b78p-1, -0x1.dfa10f90e7298p-28, 0x1.65dc2p-1, -0x1.0a39a3065f06dp-28}
  };
  // clang-format on
  return kTable[index];
}

/// Word `index` of 2/pi in binary, 64 bits each, after 64 zero bits (the integer part).
STOPE_HD inline std::uint64_t two_over_pi_word(std::int64_t index) {
  // clang-format off
  static constexpr std::uint64_t kWords[20] = {
      0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
      0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
      0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
      0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab
  };
  // clang-format on
  return kWords[index];
}

/// x = quadrant pi/2 + r (mod 2 pi), |r| <= pi/4 (1 + 2^-50), quadrant 0..3.
struct Reduced {
  Sum r;
  std::uint64_t quadrant;
};

/// Payne and Hanek (1983) in integers, for 0.5 <= x <= DBL_MAX. x = m 2^e with a 53-bit m. Only 192 bits of 2/pi
/// matter: higher bits give multiples of 4 quadrants, lower bits less than 2^-137 of a quadrant. No double lies closer
/// than 2^-61.5 quadrants to a multiple of pi/2 (m 2^797 with m = 6381956970095103; Muller, Elementary Functions, ch.
/// 11), so at least 2^-75 of relative accuracy is left. Angles of every size take this path. It costs 10 to 20 ns, so a
/// second path for small angles is not worth it.
STOPE_HD inline Reduced reduce(double x) {
  __extension__ typedef unsigned __int128 Wide;
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t m = (bits & 0x000fffffffffffffU) | 0x0010000000000000U;
  const std::int64_t e = static_cast<std::int64_t>(bits >> 52) - 1075;
  // The window begins at the bit of 2/pi that is worth 2 quadrants after the multiplication by 2^e.
  const std::int64_t position = e + 62;
  const std::int64_t word = position >> 6;
  const int shift = static_cast<int>(position & 63);
  const std::uint64_t a0 = two_over_pi_word(word), a1 = two_over_pi_word(word + 1), a2 = two_over_pi_word(word + 2),
                      a3 = two_over_pi_word(word + 3);
  const std::uint64_t w0 = (a0 << shift) | ((a1 >> 1) >> (63 - shift));
  const std::uint64_t w1 = (a1 << shift) | ((a2 >> 1) >> (63 - shift));
  const std::uint64_t w2 = (a2 << shift) | ((a3 >> 1) >> (63 - shift));

  // m * w modulo 2^192: two bits of quadrant, then 190 bits of fraction.
  const Wide low = static_cast<Wide>(m) * w2;
  const Wide middle = static_cast<Wide>(m) * w1 + static_cast<std::uint64_t>(low >> 64);
  const std::uint64_t p0 = m * w0 + static_cast<std::uint64_t>(middle >> 64);
  const std::uint64_t p1 = static_cast<std::uint64_t>(middle);
  const std::uint64_t p2 = static_cast<std::uint64_t>(low);

  // Rounds to the nearest quadrant: the fraction becomes a signed number of 192 bits in [-1/2, 1/2).
  std::uint64_t f0 = (p0 << 2) | (p1 >> 62);
  std::uint64_t f1 = (p1 << 2) | (p2 >> 62);
  std::uint64_t f2 = p2 << 2;
  const std::uint64_t negative = f0 >> 63;
  const std::uint64_t quadrant = ((p0 >> 62) + negative) & 3;
  const std::uint64_t flip = 0 - negative;
  f0 ^= flip;  // one's complement: off by 2^-192
  f1 ^= flip;
  f2 ^= flip;

  // Pieces of 32 bits are exact doubles. They are added from the smallest up, so that leading zero pieces cost no
  // accuracy.
  Sum f = fast_two_sum(Real(static_cast<double>(f1 & 0xffffffffU)) * 0x1.0p-128,
                       Real(static_cast<double>(f2 >> 32)) * 0x1.0p-160);
  const Sum with_f1 = fast_two_sum(Real(static_cast<double>(f1 >> 32)) * 0x1.0p-96, f.hi);
  const Sum with_f0 = fast_two_sum(Real(static_cast<double>(f0 & 0xffffffffU)) * 0x1.0p-64, with_f1.hi);
  const Sum whole = fast_two_sum(Real(static_cast<double>(f0 >> 32)) * 0x1.0p-32, with_f0.hi);
  f = fast_two_sum(whole.hi, whole.lo + (with_f0.lo + (with_f1.lo + f.lo)));

  // Times pi/2 = 0x1.921fb58p+0 (26 bits) - 0x1.dde973dcb3b3ap-27.
  const Sum part = split(f.hi);
  const Real rest = part.lo * 0x1.921fb58p+0 + (f.lo * 0x1.921fb58p+0 - f.hi * 0x1.dde973dcb3b3ap-27);
  const Sum r = fast_two_sum(part.hi * 0x1.921fb58p+0, rest);
  const std::uint64_t sign = negative << 63;
  return {{with_sign(r.hi.value, sign), with_sign(r.lo.value, sign)}, quadrant};
}

/// a + b d + a (cos d - 1) + b (sin d - d): sin(t + d) for (a, b) = (sin t, cos t), cos(t + d) for (cos t, -sin t).
/// Products of 26-bit heads are exact, so only terms below 2^-15 a and 2^-22 b are rounded, at 2^-53.
STOPE_HD inline Real turned(Real a_hi, Real a_lo, Real b_hi, Real b_lo, Sum d) {
  const Real d2 = d.hi * d.hi;
  const Real sin_rest = (d.hi * d2) * ((-1.0 / 6.0) + d2 * ((1.0 / 120.0) - d2 * (1.0 / 5040.0)));
  const Real cos_rest = d2 * (-0.5 + d2 * ((1.0 / 24.0) - d2 * (1.0 / 720.0))) - d.hi * d.lo;
  const Sum part = split(d.hi);
  const Sum s = two_sum(a_hi, b_hi * part.hi);
  const Real small = (a_lo + b_lo * d.hi) + ((b_hi + b_lo) * (d.lo + sin_rest) + (a_hi + a_lo) * cos_rest);
  const Sum with_low = two_sum(s.hi, b_hi * part.lo);
  return with_low.hi + (with_low.lo + (s.lo + small));
}

/// sin(r) if `quarter` is even, else cos(r).
STOPE_HD inline double sin_or_cos(Sum r, std::uint64_t quarter) {
  const std::uint64_t sign = bits_of(r.hi.value) & kSignBit;
  const Real size = magnitude(r.hi.value);
  // Finds the nearest i/64 with integers: size * 64 + 0.5 may round up just below 1/128, and then d is not exact.
  const std::int64_t index = (static_cast<std::int64_t>((size * 128.0).value) + 1) >> 1;
  const Sum d = {size - Real(static_cast<double>(index)) * 0x1.0p-6, with_sign(r.lo.value, sign)};
  const SinCosEntry t = sincos_entry(index);
  if ((quarter & 1) != 0) return turned(t.cos_hi, t.cos_lo, -t.sin_hi, -t.sin_lo, d).value;
  return with_sign(turned(t.sin_hi, t.sin_lo, t.cos_hi, t.cos_lo, d).value, sign);
}

/// The sine of any finite angle in radians. sin(+-inf) = NaN, sin(-0) = -0.
STOPE_HD inline double sin(double x) {
  const double size = magnitude(x);
  if (!(size < infinity())) return quiet_nan();
  if (size < 0x1.0p-27) return x;
  if (size < 0x1.9p-1) return sin_or_cos({x, 0.0}, 0);
  const Reduced reduced = reduce(size);
  const std::uint64_t sign = (bits_of(x) & kSignBit) ^ ((reduced.quadrant & 2) << 62);
  return with_sign(sin_or_cos(reduced.r, reduced.quadrant), sign);
}

/// The cosine of any finite angle in radians. cos(+-inf) = NaN.
STOPE_HD inline double cos(double x) {
  const double size = magnitude(x);
  if (!(size < infinity())) return quiet_nan();
  if (size < 0x1.0p-28) return 1.0;
  if (size < 0x1.9p-1) return sin_or_cos({size, 0.0}, 1);
  const Reduced reduced = reduce(size);
  const std::uint64_t quarter = reduced.quadrant + 1;
  return with_sign(sin_or_cos(reduced.r, quarter), (quarter & 2) << 62);
}

}  // namespace stope::math
