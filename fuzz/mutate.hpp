// What the targets' own mutators share: random choices, libFuzzer's mutation of a part of the input, numbers that
// readers get wrong, and bytes that are changed where they lie.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace stope::fuzz {

/// The random choices of one mutation.
class Choices {
 public:
  explicit Choices(unsigned seed) : random_(seed) {}
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random_.below(n)); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  std::uint64_t bits() { return random_.next(); }
  template <class List>
  const auto& of(const List& list) {
    return list[below(std::size(list))];
  }

 private:
  Random random_;
};

/// Sizes and counts that lie: negative, beyond any file, just beyond a power of two.
inline constexpr std::array<std::uint64_t, 16> kLies{
    0,          1,          2,          0xff,       0x7fff,           0xffff,    0x7fffffff, 0x80000000,
    UINT32_MAX, 1ULL << 32, 1ULL << 40, 1ULL << 60, (1ULL << 61) + 1, INT64_MAX, 1ULL << 63, UINT64_MAX};

/// Numbers that arithmetic gets wrong.
inline constexpr std::array kNumbers{0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     3.0,
                                     1e16,
                                     1e300,
                                     -1e300,
                                     1.7976931348623157e308,
                                     1e-300,
                                     5e-324,
                                     2147483648.0,
                                     9007199254740993.0,
                                     1e-17,
                                     1e154,
                                     HUGE_VAL,
                                     -HUGE_VAL,
                                     __builtin_nan("")};

/// The same as text, with what only texts can say.
inline constexpr std::array kNumberWords{"0",
                                         "-0",
                                         "1",
                                         "-1",
                                         "2",
                                         "007",
                                         "1e308",
                                         "1e999",
                                         "-1e999",
                                         "5e-324",
                                         "1e-999",
                                         "nan",
                                         "inf",
                                         "-inf",
                                         "9007199254740993",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551616",
                                         "4294967296",
                                         "0.1",
                                         ".5",
                                         "5.",
                                         "1e",
                                         "0x10",
                                         "1.7976931348623159e308",
                                         "2147483648",
                                         "1000",
                                         "64",
                                         "1_0",
                                         "+3",
                                         ".",
                                         "-",
                                         "-.",
                                         "+.5",
                                         "e5",
                                         "-.5e-3"};

/// The text after one mutation of libFuzzer's own, which knows the dictionary; at most `most` bytes long.
inline std::string mutated_by_libfuzzer(std::string text, std::size_t most) {
  const std::size_t size = text.size();
  text.resize(std::max(most, size + 1));
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
  return text;
}

/// Hands the input to `change`, which returns what becomes of it. What is too long is mutated by libFuzzer instead.
template <class Change>
std::size_t mutate_with(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed, const Change& change) {
  Choices choices(seed);
  const std::string made = change(std::string(reinterpret_cast<const char*>(data), size), choices);
  if (made.size() > most || made.empty()) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, made.data(), made.size());
  return made.size();
}

/// For targets that take one byte for each choice: bytes are changed where they lie, so that those behind keep their
/// meaning. `rare`: what makes a target do what it seldom does.
inline std::size_t mutate_in_place(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                                   std::uint8_t rare) {
  Choices choices(seed);
  if (size == 0 || choices.one_in(4)) return LLVMFuzzerMutate(data, size, most);
  for (std::size_t n = 1 + choices.below(4); n > 0; --n) {
    std::uint8_t& byte = data[choices.below(size)];
    const std::size_t how = choices.below(4);
    byte = how == 0   ? rare
           : how == 1 ? static_cast<std::uint8_t>(byte + 1)
           : how == 2 ? static_cast<std::uint8_t>(choices.below(32))
                      : static_cast<std::uint8_t>(choices.bits());
  }
  if (choices.one_in(8) && size < most) {  // more of the same
    const std::size_t more = std::min(most - size, 1 + choices.below(size));
    std::memcpy(data + size, data + choices.below(size - more + 1), more);
    size += more;
  }
  return size;
}

}  // namespace stope::fuzz
