#include "io/cuts_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void expect_refused(const std::string& json, const std::string& words) {
  try {
    io::parse_cuts(json, "cuts.json");
    ADD_FAILURE() << json << " was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_data) << json;
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("cuts.json", 0), 0U) << error.what();
  }
}

TEST(CutsJson, NumbersInfinitiesAndValues) {
  const CutSet cuts =
      io::parse_cuts(R"({"age": ["-inf", 22.5, 39, 1e300, "inf"], "sex": ["female", "?"], "none": []})", "f");
  ASSERT_EQ(cuts.size(), 3U);
  EXPECT_EQ(cuts[0].name, "age");
  EXPECT_FALSE(cuts[0].symbolic);
  EXPECT_EQ(cuts[0].numbers, (std::vector<double>{-kInfinity, 22.5, 39, 1e300, kInfinity}));
  EXPECT_TRUE(cuts[1].symbolic);
  EXPECT_EQ(cuts[1].values, (std::vector<std::string>{"female", "?"}));
  EXPECT_EQ(cuts[2].size(), 0);
  EXPECT_TRUE(io::parse_cuts("{}", "f").empty());
}

TEST(CutsJson, WholeNumbersOfAnySizeAreTheNearestDouble) {
  const CutSet cuts = io::parse_cuts(
      R"({"a": [-9223372036854775808, -9007199254740993, -9007199254740991, -1, 0, 9007199254740991,
                9007199254740992, 9007199254740995, 18446744073709551615, 98765432109876543210]})",
      "f");
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].numbers, (std::vector<double>{-9223372036854775808.0, -9007199254740992.0, -9007199254740991.0,
                                                  -1.0, 0.0, 9007199254740991.0, 9007199254740992.0, 9007199254740996.0,
                                                  18446744073709551616.0, 98765432109876543210.0}));
  EXPECT_FALSE(std::signbit(io::parse_cuts(R"({"a": [-0]})", "f")[0].numbers[0]));
}

TEST(CutsJson, WhatIsWrittenIsReadBackToTheBit) {
  Random random(41);
  CutSet cuts;
  for (int a = 0; a < 200; ++a) {
    AttributeCuts one{"name \"" + std::to_string(a) + "\"\n\\\t\x01 \xc3\xa9", a % 3 == 0, {}, {}};
    for (int i = 0; i < 5; ++i) {
      const double number = std::bit_cast<double>(random.next());
      if (one.symbolic) {
        one.values.push_back("v\"" + std::to_string(random.next()));
      } else if (!std::isnan(number)) {
        one.numbers.push_back(number + 0.0);
      }
    }
    if (!one.symbolic && a % 2 == 0) one.numbers = {-kInfinity, 1.0, kInfinity};
    std::sort(one.numbers.begin(), one.numbers.end());
    one.numbers.erase(std::unique(one.numbers.begin(), one.numbers.end()), one.numbers.end());
    cuts.push_back(one);
  }
  const CutSet back = io::parse_cuts(io::cuts_text(cuts), "f");
  ASSERT_EQ(back.size(), cuts.size());
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    EXPECT_EQ(back[i].name, cuts[i].name);
    EXPECT_EQ(back[i].symbolic, cuts[i].symbolic);
    EXPECT_EQ(back[i].numbers, cuts[i].numbers);
    EXPECT_EQ(back[i].values, cuts[i].values);
  }
  EXPECT_EQ(io::cuts_text({}), "{}\n");
  expect_error(ErrorCode::unsupported, "the values of 's' would be read back as numbers",
               [&] { io::cuts_text({{"s", true, {}, {"-inf", "inf"}}}); });
}

TEST(CutsJson, WhatIsNoSetOfCutsIsRefused) {
  expect_refused("", "JSON");
  expect_refused("{\"x\": [1, 2", "JSON");
  expect_refused("[1, 2]", "a list");
  expect_refused("{\"x\": 3}", "'x': a number is not a list");
  expect_refused("{\"x\": [1, null]}", "null");
  expect_refused("{\"x\": [[1]]}", "a list");
  expect_refused("{\"x\": [1, \"red\"]}", "mixed");
  expect_refused("{\"x\": [2, 1]}", "do not ascend");
  expect_refused("{\"x\": [1, 1.0]}", "do not ascend");
  expect_refused("{\"x\": [1, \"-inf\"]}", "do not ascend");
  expect_refused("{\"x\": [\"a\", \"a\"]}", "twice");
  expect_refused("{\"x\": [1], \"x\": [2]}", "twice");
  expect_refused("{\"\": [1]}", "name");
  expect_refused("{\"x\": [1e999]}", "JSON");
}

}  // namespace
}  // namespace stope
