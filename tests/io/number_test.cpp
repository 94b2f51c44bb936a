#include "io/number.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace stope::io {
namespace {

double parse(std::string_view text, char decimal = '.') {
  double value = -12345;
  EXPECT_TRUE(parse_number(text, value, decimal)) << text;
  return value;
}

bool refuses(std::string_view text, char decimal = '.') {
  double value = 0;
  return !parse_number(text, value, decimal);
}

TEST(ParseNumber, Spellings) {
  EXPECT_EQ(parse("1"), 1);
  EXPECT_EQ(parse("+1.5"), 1.5);
  EXPECT_EQ(parse("-.5e1"), -5);
  EXPECT_EQ(parse("5."), 5);
  EXPECT_EQ(parse("1E3"), 1000);
  EXPECT_TRUE(std::signbit(parse("-0")));
  for (const char* nan : {"nan", "NaN", "-NAN", "+nan"}) EXPECT_TRUE(std::isnan(parse(nan)));
  for (const char* inf : {"inf", "Infinity", "+INF"}) EXPECT_EQ(parse(inf), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse("-infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse("1,5", ','), 1.5);
  EXPECT_EQ(parse(",5e2", ','), 50);
}

TEST(ParseNumber, Refusals) {
  for (const char* text : {"", "+", "-", ".", "e5", "1e", "1e+", "--1", "+-1", "-+1", "1 ", " 1", "1.2.3", "0x10",
                           "nan(1)", "infinit", "1f", "1,5", "١"}) {
    EXPECT_TRUE(refuses(text)) << text;
  }
  EXPECT_TRUE(refuses("1.5", ','));
  EXPECT_TRUE(refuses("1,5,2", ','));
  EXPECT_TRUE(refuses(",", ','));
}

TEST(ParseNumber, OutOfRangeRoundsAsIeeeSays) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(parse("1e400"), infinity);
  EXPECT_EQ(parse("-1e400"), -infinity);
  EXPECT_EQ(parse("0.0000001e400"), infinity);
  EXPECT_EQ(parse("1e-400"), 0);
  EXPECT_EQ(parse("1000000e-400"), 0);
  EXPECT_EQ(parse("1e99999999999999999999"), infinity);
  EXPECT_EQ(parse("1e-99999999999999999999"), 0);
  EXPECT_EQ(parse("0e99999999999999999999"), 0);
  EXPECT_EQ(parse(std::string(400, '9')), infinity);
  EXPECT_EQ(parse("0." + std::string(400, '0') + "1"), 0);
  EXPECT_EQ(parse("4.9e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parse("1.7976931348623157e308"), std::numeric_limits<double>::max());
}

TEST(AppendNumber, Spellings) {
  const auto text = [](double value) {
    std::string out;
    append_number(out, value);
    return out;
  };
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(-0.0), "-0.0");
  EXPECT_EQ(text(3), "3.0");
  EXPECT_EQ(text(100000), "100000.0");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(0.0001), "0.0001");
  EXPECT_EQ(text(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(text(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(Number, RandomBitsSurviveARoundTrip) {
  Random random(7);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random.next();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isnan(value)) continue;
    std::string out;
    append_number(out, value);
    const double back = parse(out);
    ASSERT_EQ(std::memcmp(&value, &back, sizeof value), 0) << out;
  }
}

// All 2^32 floats, as doubles, on every processor: four minutes of one.
TEST(Number, EveryFloatSurvivesARoundTrip) {
  if (std::getenv("STOPE_LARGE") == nullptr) GTEST_SKIP() << "STOPE_LARGE is not set: this takes minutes";
  constexpr std::uint64_t kFloats = std::uint64_t{1} << 32;
  const std::uint64_t n_threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::uint64_t> n_wrong{0}, n_compared{0};
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < n_threads; ++thread) {
    threads.emplace_back([&, thread] {
      std::uint64_t wrong = 0, compared = 0;
      std::string text;
      for (std::uint64_t i = thread; i < kFloats; i += n_threads) {
        const auto value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(i)));
        if (std::isnan(value)) continue;
        text.clear();
        append_number(text, value);
        double back = 0;
        const bool same =
            parse_number(text, back, '.') && std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value);
        wrong += same ? 0 : 1;
        ++compared;
      }
      n_wrong += wrong;
      n_compared += compared;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(n_wrong, 0U);
  EXPECT_EQ(n_compared, kFloats - 2 * ((std::uint64_t{1} << 23) - 1)) << "all but the NaNs";
}

TEST(ParseNumber, AgreesWithStrtod) {
  Random random(8);
  for (int i = 0; i < 200000; ++i) {
    std::string text = std::to_string(random.next() >> random.below(64));
    if (random.below(2) == 0) text.insert(random.below(text.size() + 1), ".");
    if (random.below(3) == 0) text += "e" + std::to_string(static_cast<int>(random.below(80)) - 40);
    ASSERT_EQ(parse(text), std::strtod(text.c_str(), nullptr)) << text;
  }
}

}  // namespace
}  // namespace stope::io
