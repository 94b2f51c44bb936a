// The portable generator behind every --seed: the same seed gives the same bytes on every machine. A generated table
// takes one for each row (src/generate/kind.hpp), so its values do not depend on the number of rows made at a time.
#pragma once

#include <cstdint>

namespace stope {

/// SplitMix64 (Steele, Lea, Flood 2014): it has 64 bits of state, is equidistributed and passes BigCrush. The
/// distributions of std:: differ between standard libraries, so the few that stope needs are here.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), bound > 0, without bias (rejection).
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t reject = (0 - bound) % bound;  // 2^64 mod bound
    for (;;) {
      const std::uint64_t value = next();
      if (value >= reject) return value % bound;
    }
  }

  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace stope
