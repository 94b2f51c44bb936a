// How much of their repetition tests do: all in a plain build, a part under a sanitizer (tests/CMakeLists.txt), which
// makes each many times as slow and finds what it can find in the first of many like cases. STOPE_EFFORT sets the
// percentage for a long run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "environment.hpp"

namespace stope {

/// The percentage of what a plain build does.
inline std::int64_t effort() {
  return from_environment("STOPE_EFFORT", STOPE_DEFAULT_EFFORT);
}

/// How many of n like cases a test goes through: at least `least`, enough for every kind of them.
template <class Count>
Count repeated(Count n, Count least) {
  return std::max(least, static_cast<Count>(static_cast<std::int64_t>(n) * effort() / 100));
}

/// How often a test on a GPU goes through its random cases. scripts/gpu_check.sh asks for fewer under
/// compute-sanitizer.
inline int rounds(int usual = 8) {
  return static_cast<int>(from_environment("STOPE_ROUNDS", usual));
}

/// Whether a test goes through the i-th of many like cases: the same share of them, evenly spread.
inline bool chosen(std::int64_t i) {
  const std::int64_t share = std::max<std::int64_t>(effort(), 20);
  return i * share / 100 != (i + 1) * share / 100;
}

}  // namespace stope
