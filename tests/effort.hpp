// How much of their repetition tests do: all in a plain build, a part under a sanitizer (tests/CMakeLists.txt). A
// sanitizer makes each repetition many times as slow, and finds its faults in the first of many like cases.
// STOPE_EFFORT sets the percentage for a long run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "environment.hpp"

namespace stope {

/// Returns the percentage of a plain build's repetitions.
inline std::int64_t effort() {
  return from_environment("STOPE_EFFORT", STOPE_DEFAULT_EFFORT);
}

/// Returns how many of n like cases a test goes through: at least `least`, enough for every kind of them.
template <class Count>
Count repeated(Count n, Count least) {
  return std::max(least, static_cast<Count>(static_cast<std::int64_t>(n) * effort() / 100));
}

/// Returns how often a test on a GPU goes through its random cases. scripts/gpu_check.sh asks for fewer under
/// compute-sanitizer.
inline int rounds(int usual = 8) {
  return static_cast<int>(from_environment("STOPE_ROUNDS", usual));
}

/// Whether a test goes through the i-th of many like cases. It goes through the first and an evenly spread share of the
/// others. Shares do not divide 100: then the distance between two cases varies, and an inner loop of a few steps does
/// not stop at the same step each time.
inline bool chosen(std::int64_t i) {
  const std::int64_t share = std::max<std::int64_t>(effort(), 1);
  return (i * share + 99) / 100 != ((i + 1) * share + 99) / 100;
}

}  // namespace stope
