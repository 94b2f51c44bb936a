// Values: shared, compared, looked up.
#include "stope/values.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stope/table.hpp"

namespace stope {
namespace {

std::vector<std::string> many_names(int n) {
  std::vector<std::string> names;
  for (int i = 0; i < n; ++i) names.push_back("value " + std::to_string(i));
  return names;
}

TEST(Values, GivesNamesInOrder) {
  const Values values = {"red", "blue", ""};
  EXPECT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0], "red");
  EXPECT_EQ(values.front(), "red");
  EXPECT_EQ(values.back(), "");
  EXPECT_EQ(std::vector<std::string>(values.begin(), values.end()), values.names());
  EXPECT_TRUE(Values().empty());
  EXPECT_TRUE(Values().names().empty());
  EXPECT_EQ(Values().begin(), Values().end());
}

TEST(Values, CopiesShareTheMemoryOfTheNames) {
  const Values values = many_names(1000);
  const Values copy = values;
  EXPECT_EQ(copy.begin(), values.begin());
  Table table;
  table.n_rows = 1;
  table.columns = {make_nominal("a", {0}, values)};
  const Table other = table.take({0});
  EXPECT_EQ(other.columns[0].values.begin(), values.begin());
}

TEST(Values, TakesTheMemoryOfAVectorOver) {
  std::vector<std::string> names = many_names(10);
  const std::string* const first = names.data();
  EXPECT_EQ(Values(std::move(names)).begin(), first);
}

TEST(Values, AreEqualWhereTheirNamesAre) {
  const Values values = {"a", "b"};
  EXPECT_EQ(values, Values(values));
  EXPECT_EQ(values, Values({"a", "b"}));
  EXPECT_NE(values, Values({"b", "a"}));
  EXPECT_NE(values, Values({"a", "b", "c"}));
  EXPECT_NE(values, Values());
  EXPECT_EQ(Values(), Values(std::vector<std::string>{}));
}

TEST(Values, AreEmptyOnceTheyWereMoved) {
  Values from = {"a", "b"};
  const Values to = std::move(from);
  EXPECT_EQ(to.size(), 2U);
  EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_EQ(from.begin(), from.end());
  EXPECT_EQ(from.code_of("a"), kUnseenCode);
}

TEST(Values, GiveTheFirstCodeOfAName) {
  const Values values = {"a", "b", "a", ""};
  EXPECT_EQ(values.code_of("a"), 0);
  EXPECT_EQ(values.code_of("b"), 1);
  EXPECT_EQ(values.code_of(""), 3);
  EXPECT_EQ(values.code_of("A"), kUnseenCode);
  EXPECT_EQ(Values().code_of("a"), kUnseenCode);
}

TEST(Values, MayBeLookedUpFromSeveralThreadsAtOnce) {
  const Values values = many_names(5000);
  std::atomic<int> n_wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, copy = values] {
        for (int i = 0; i < 5000; ++i) n_wrong += copy.code_of("value " + std::to_string(i)) != i ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(n_wrong, 0);
}

}  // namespace
}  // namespace stope
