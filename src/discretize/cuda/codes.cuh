// A column's values as whole numbers in the same order. They need few bits, so that the class fits into the same word
// and nothing else has to be sorted. A missing value has code 0. Then come the numbers below zero, zero, and those
// above. A number's code is its distance in order keys (discretize/value_order.hpp) from the lowest of its sign. The
// gap between the signs, thousands of powers of two next to zero, takes no codes.
#pragma once

#include <cstdint>

#include "discretize/value_order.hpp"

namespace stope::discretize::cuda {

/// Order keys less that of zero. They are signed: negative for numbers below zero, and the lowest of all for a missing
/// value.
template <class T>
struct KeyOf;
template <>
struct KeyOf<float> {
  using Signed = std::int32_t;
  using Unsigned = std::uint32_t;
};
template <>
struct KeyOf<double> {
  using Signed = std::int64_t;
  using Unsigned = std::uint64_t;
};

template <class T>
__device__ __forceinline__ typename KeyOf<T>::Signed signed_key(T value) {
  using Unsigned = typename KeyOf<T>::Unsigned;
  return static_cast<typename KeyOf<T>::Signed>(order_key(value) ^ (Unsigned{1} << (sizeof(T) * 8 - 1)));
}

/// The lowest and the highest key on either side of zero, found by comparisons without a branch. Zero changes nothing.
template <class T>
struct KeyRange {
  using Signed = typename KeyOf<T>::Signed;
  using Unsigned = typename KeyOf<T>::Unsigned;

  Signed below_lowest = -1;                ///< the lowest negative key, less 1; -1: there is none
  Unsigned high_negative = 0;              ///< as an unsigned number, which is higher than any key that is not negative
  Unsigned below_positive = ~Unsigned{0};  ///< the lowest positive key, less 1
  Signed highest = 0;                      ///< 0: none is positive

  __device__ __forceinline__ void add(Signed key) {
    const auto bits = static_cast<Unsigned>(key);
    const auto below = static_cast<Signed>(bits - 1);  // the highest of all for a missing value
    below_lowest = below < below_lowest ? below : below_lowest;
    high_negative = bits > high_negative ? bits : high_negative;
    below_positive = bits - 1 < below_positive ? bits - 1 : below_positive;
    highest = key > highest ? key : highest;
  }
};

template <class T>
class Codes {
 public:
  using Signed = typename KeyOf<T>::Signed;
  using Unsigned = typename KeyOf<T>::Unsigned;

  __device__ __forceinline__ explicit Codes(const KeyRange<T>& range)
      : negative_(static_cast<Unsigned>(range.below_lowest)),
        zero_(range.below_lowest < -1 ? range.high_negative - negative_ + 1 : 1),
        positive_(range.below_positive - zero_),
        highest_(range.highest > 0 ? static_cast<Unsigned>(range.highest) - positive_ : zero_) {}

  /// The highest possible code. There are fewer codes than keys, so no sum overflows.
  __device__ __forceinline__ Unsigned highest() const { return highest_; }
  __device__ __forceinline__ Unsigned code(Signed key) const {
    Unsigned code = static_cast<Unsigned>(key) - (key < 0 ? negative_ : positive_);
    code = key == 0 ? zero_ : code;
    return key == kMissing ? 0 : code;
  }
  __device__ __forceinline__ double value(Unsigned code) const {
    if (code == 0 || code == zero_) return code == 0 ? __longlong_as_double(0x7ff8000000000000LL) : 0.0;
    return value_of((code < zero_ ? code + negative_ : code + positive_) ^ static_cast<Unsigned>(kMissing));
  }

 private:
  static constexpr Signed kMissing = static_cast<Signed>(Unsigned{1} << (sizeof(T) * 8 - 1));

  /// What is subtracted from keys below zero; the code of zero; what is subtracted above zero; the highest code.
  Unsigned negative_, zero_, positive_, highest_;
};

}  // namespace stope::discretize::cuda
