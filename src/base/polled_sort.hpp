// std::sort that can be interrupted: long lists of texts take seconds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/progress.hpp"

namespace stope {

/// Sorts as std::sort does. Throws Error{cancelled} from within, and leaves the elements in any order then.
template <class Iterator, class Less>
void polled_sort(Iterator begin, Iterator end, const CancelToken& cancel, const Less& less) {
  constexpr std::int64_t kPollComparisons = std::int64_t{1} << 16;  // some milliseconds, also beyond the caches
  std::int64_t left = kPollComparisons;
  std::sort(begin, end, [&](const auto& a, const auto& b) {
    if (--left == 0) {
      left = kPollComparisons;
      poll_step(cancel);
    }
    return less(a, b);
  });
}

}  // namespace stope
