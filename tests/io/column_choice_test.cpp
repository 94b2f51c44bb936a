#include "io/column_choice.hpp"

#include <gtest/gtest.h>

#include <random>

#include "expect_error.hpp"
#include "io/roles.hpp"
#include "stope/error.hpp"

namespace stope::io {
namespace {

// By recursion over both texts: what a pattern means, without any cleverness.
bool oracle(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return oracle(pattern.substr(1), name) || (!name.empty() && oracle(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return oracle(pattern.substr(1), name.substr(1));
}

TEST(ColumnPatterns, MatchAsTheRecursiveDefinitionSays) {
  std::mt19937 random(7);
  const auto word = [&](std::string_view letters, std::size_t most) {
    std::string text;
    for (std::size_t n = random() % (most + 1); n > 0; --n) text += letters[random() % letters.size()];
    return text;
  };
  int matches = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string pattern = word("ab*?", 6), name = word("ab", 7);
    ASSERT_EQ(matches_pattern(pattern, name), oracle(pattern, name)) << pattern << " and " << name;
    matches += matches_pattern(pattern, name) ? 1 : 0;
  }
  EXPECT_GT(matches, 1000);
}

TEST(ColumnPatterns, AQuestionMarkStandsForOneCharacterOfAnyLength) {
  EXPECT_TRUE(matches_pattern("gr?n", "grün"));
  EXPECT_TRUE(matches_pattern("?", "€"));
  EXPECT_FALSE(matches_pattern("??", "€"));
}

TEST(ColumnPatterns, TakeNoLongerThanBothTextsTogether) {
  const std::string name(20000, 'a');
  EXPECT_FALSE(matches_pattern("*a*a*a*a*a*a*a*a*a*a*b", name));
}

TEST(ColumnChoice, SelectsIgnoresAndTypesByPattern) {
  const ColumnNames names({"id", "g1", "g2", "y", "g*"}, UnknownColumns::error, "t.csv");
  ReadOptions options;
  options.select = {"g?", "id"};
  options.target = "y";
  options.nominal = {"1-2"};
  options.numeric = {"g1", "g*"};  // a name: the last column
  const ColumnChoice choice = choose_columns(names, options);
  EXPECT_EQ(choice.ignore, std::vector<std::int64_t>{});  // g? takes g*, too, and y has a role
  EXPECT_EQ(choice.numeric, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(choice.nominal, std::vector<std::int64_t>{0});
}

TEST(ColumnChoice, OfASecondTableSkipsWhatItLacks) {
  const ColumnNames names({"a", "b"}, UnknownColumns::skip, "t.csv");
  ReadOptions options;
  options.ignore = {"c*", "1-2", "z"};
  EXPECT_TRUE(choose_columns(names, options).ignore.empty());
}

TEST(ColumnChoice, WhatIsNoRangeIsAName) {
  const ColumnNames names({"-1", "1-", "1-x", "x-2", "1--2", "99999999999999999999-1"}, UnknownColumns::error, "t.csv");
  for (std::int64_t at = 0; at < 6; ++at) {
    ReadOptions options;
    options.nominal = {std::vector<std::string>{"-1", "1-", "1-x", "x-2", "1--2",
                                                "99999999999999999999-1"}[static_cast<std::size_t>(at)]};
    EXPECT_EQ(choose_columns(names, options).nominal, std::vector<std::int64_t>{at}) << options.nominal[0];
  }
  for (const char* none : {"-2", "2-", "2-x", "y-2", "1--3", "99999999999999999999-2", "*q", "?"}) {
    ReadOptions options;
    options.nominal = {none};
    expect_error(ErrorCode::invalid_data, none, [&] { choose_columns(names, options); });
  }
}

}  // namespace
}  // namespace stope::io
