// A column's values as whole numbers in the same order that need few bits, so that the class fits beside them in one
// word and nothing else has to be sorted. The code of a missing value is 0; then come the numbers below zero, zero, and
// those above, each by its distance in order keys (discretize/value_order.hpp) from the lowest of its sign: what lies
// between the signs, thousands of powers of two next to zero, takes no codes.
#pragma once

#include <cstdint>

#include "discretize/value_order.hpp"

namespace stope::discretize::cuda {

/// Order keys less that of zero: signed, negative for numbers below zero; the lowest of all for a missing value.
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

/// The lowest and the highest key on either side of zero, by comparisons without a branch. Zero leaves it as it is.
template <class T>
struct KeyRange {
  using Signed = typename KeyOf<T>::Signed;
  using Unsigned = typename KeyOf<T>::Unsigned;

  Signed below_lowest = -1;                ///< the lowest negative key, less 1; -1: there is none
  Unsigned high_negative = 0;              ///< as an unsigned number, which is higher than all that are not negative
  Unsigned below_positive = ~Unsigned{0};  ///< the lowest positive key, less 1
  Signed highest = 0;                      ///< 0: none is positive

  __device__ __forceinline__ void add(Signed key) {
    const auto bits = static_cast<Unsigned>(key);
    const auto below = static_cast<Signed>(bits - 1);  // of a missing value the highest of all
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

  /// The highest code there can be. There are fewer codes than keys: no sum overflows.
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

  Unsigned negative_, zero_, positive_, highest_;  ///< what is taken from keys below and above zero; the code of zero
};

}  // namespace stope::discretize::cuda
