// Order statistics of an array of doubles: its range is cut into equal parts, the values of each part are counted, and
// only parts that hold a wanted rank are looked into.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "stope/run.hpp"

namespace stope::stats {

using Key = std::uint64_t;
inline constexpr Key kSign = Key{1} << 63;

/// Keys are ordered as their values are, with -0 below 0. So which value has a rank does not depend on where it lay.
inline Key key_of(double value) {
  const Key bits = std::bit_cast<Key>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

inline double value_of(Key key) {
  return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
}

/// A rank that is wanted, and the value that has it.
struct Ranked {
  std::int64_t rank;
  double value = std::numeric_limits<double>::quiet_NaN();
};

/// Puts the values of these ranks into place: ranks ascend, and count from `before` at the first of the values.
/// Reorders the values.
void select_ranks(std::span<double> values, std::int64_t before, const CancelToken& cancel, std::span<Ranked> wanted);

/// The same for values from `low` to `high`, fewer than 2^31 and none of them NaN, which stay as they are. A value
/// costs about 3 ns, however many ranks are wanted, unless most values lie in a small part of the range: then their
/// range is cut again, a few times, and in the end select_ranks() does it.
void select_by_range(std::span<const double> values, double low, double high, std::int64_t before,
                     const CancelToken& cancel, std::span<Ranked> wanted);

}  // namespace stope::stats
