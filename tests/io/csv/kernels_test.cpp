#include "io/csv/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace stope::io::csv {
namespace {

// A decimal with up to 19 digits, some of them zeros in front, and a point at any place or none.
std::string any_decimal(std::mt19937_64& g) {
  const std::string sign(g() % 2, '-');
  std::string digits(g() % 4, '0');
  for (std::uint64_t n = 1 + g() % 19; n > 0; --n) digits += static_cast<char>('0' + g() % 10);
  if (g() % 8 != 0) digits.insert(g() % (digits.size() + 1), ".");
  return sign + digits;
}

// A double as most programs write it: the shortest decimal that gives it back has 15 to 17 digits.
std::string written_in_full(std::mt19937_64& g) {
  const double value = (std::uniform_real_distribution<double>(-1, 1)(g)) * std::array{0.01, 1.0, 100.0, 1e6}[g() % 4];
  std::array<char, 64> text{};
  for (int n_digits = 15; n_digits <= 17; ++n_digits) {
    const int before = value == 0 ? 0 : std::max(0, static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1);
    std::snprintf(text.data(), text.size(), "%.*f", n_digits - before, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  return text.data();
}

// The middle between two doubles, or a number whose last digit is on one side of it.
std::string near_a_middle(std::mt19937_64& g) {
  const std::uint64_t whole = (std::uint64_t{1} << 52) + (g() >> 12);
  std::string text = std::to_string(whole) + ".5";
  if (g() % 3 != 0) text.back() = static_cast<char>('4' + g() % 3);
  return text;
}

struct Read {
  std::int64_t n_left = 0;
  bool equal = true;
};

Read read_all(const Kernels& kernels, const std::vector<std::string>& numbers) {
  std::string text;
  std::vector<std::uint32_t> ends{UINT32_MAX};
  for (const std::string& number : numbers) {
    text += number;
    ends.push_back(static_cast<std::uint32_t>(text.size()));
    text += ',';
  }
  text.append(kPadding, '7');
  const auto n = static_cast<std::int64_t>(numbers.size());
  std::vector<double> values(numbers.size(), -1);
  std::vector<std::uint32_t> rest(numbers.size());
  const PlainNumbers plain = kernels.plain_numbers({text.data(), ends.data(), ends.data() + 1, 1, 1, n, false}, '.',
                                                   values.data(), rest.data());
  Read result{.n_left = plain.n_rest};
  std::size_t left = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (left < static_cast<std::size_t>(plain.n_rest) && rest[left] == i) {
      ++left;
      continue;
    }
    const double expected = std::strtod(numbers[i].c_str(), nullptr);
    if (values[i] == expected && std::signbit(values[i]) == std::signbit(expected)) continue;
    ADD_FAILURE() << kernels.name << ": " << numbers[i] << " became " << values[i];
    result.equal = false;
    break;
  }
  return result;
}

template <class Make>
std::vector<std::string> many(std::uint64_t seed, const Make& make) {
  std::mt19937_64 g(seed);
  std::vector<std::string> numbers(200'000);
  for (std::string& number : numbers) number = make(g);
  return numbers;
}

TEST(CsvKernels, ReadDecimalsAsStrtodDoes) {
  int n_kernels = 0;
  const Kernels* const* const kernels = available_kernels(&n_kernels);
  for (int k = 0; k < n_kernels; ++k) {
    EXPECT_TRUE(read_all(*kernels[k], many(1, any_decimal)).equal);
    EXPECT_TRUE(read_all(*kernels[k], many(2, written_in_full)).equal);
    EXPECT_TRUE(read_all(*kernels[k], many(3, near_a_middle)).equal);
  }
}

TEST(CsvKernels, ReadNearlyAllDoublesThatAreWrittenInFull) {
  int n_kernels = 0;
  const Kernels* const* const kernels = available_kernels(&n_kernels);
  for (int k = 1; k < n_kernels; ++k) EXPECT_LT(read_all(*kernels[k], many(4, written_in_full)).n_left, 1000);
}

// Ranges may begin between any two bytes, such as those of an empty line.
TEST(CsvKernels, CountTheEndsOfLinesInRangesAsInTheWhole) {
  int n_kernels = 0;
  const Kernels* const* const kernels = available_kernels(&n_kernels);
  std::mt19937_64 g(5);
  for (int round = 0; round < 2000; ++round) {
    std::string text(1 + g() % 200, 'a');
    for (char& c : text) c = std::array{'a', '\n', '\n', '\r', '\r'}[g() % 5];
    const auto n = static_cast<std::int64_t>(text.size());
    const auto at = [&](std::int64_t i) { return text[static_cast<std::size_t>(i)]; };
    const auto is_end = [&](std::int64_t i) {  // in front of the text, too
      return i < 0 || at(i) == '\n' || (at(i) == '\r' && (i + 1 == n || at(i + 1) != '\n'));
    };
    const auto begin = static_cast<std::int64_t>(g() % text.size() & ~std::uint64_t{1});
    std::int64_t ends = 0, empty = 0;
    for (std::int64_t i = begin; i < n; ++i) {
      if (!is_end(i)) continue;
      ++ends;
      empty += is_end(i - 1) || (at(i) == '\n' && at(i - 1) == '\r' && is_end(i - 2)) ? 1 : 0;
    }
    for (int k = 0; k < n_kernels; ++k) {
      const EndCount found = kernels[k]->count_ends(text.data(), begin, n, n, begin == 0);
      ASSERT_EQ(found.ends[0], ends) << kernels[k]->name << ", " << round;
      ASSERT_EQ(found.empty[0], empty) << kernels[k]->name << ", " << round;
    }
  }
}

}  // namespace
}  // namespace stope::io::csv
