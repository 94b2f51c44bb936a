// NameIndex finds every name, the first of equal ones, and nothing else.
#include "base/name_index.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stope {
namespace {

TEST(NameIndex, FindsNamesAtAnySize) {
  for (const std::size_t n : {0, 1, 2, 3, 11, 12, 13, 1000, 50000}) {
    for (const std::size_t room : {n, std::size_t{0}}) {  // with its room at once, and growing
      std::vector<std::string> names;
      names.reserve(n);
      NameIndex index(room);
      for (std::size_t i = 0; i < n; ++i) {
        names.push_back("c" + std::to_string(i));
        ASSERT_EQ(index.add(names.back()), -1);
      }
      ASSERT_EQ(index.size(), n);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(index.find("c" + std::to_string(i)), static_cast<std::int64_t>(i));
      EXPECT_EQ(index.find("c" + std::to_string(n)), -1);
      EXPECT_EQ(index.find(""), -1);
      EXPECT_FALSE(index.contains("c"));
    }
  }
}

TEST(NameIndex, GivesTheFirstOfEqualNames) {
  NameIndex index;
  EXPECT_EQ(index.add("a"), -1);
  EXPECT_EQ(index.add(""), -1);
  EXPECT_EQ(index.add("a"), 0);
  EXPECT_EQ(index.add("b"), -1);
  EXPECT_EQ(index.add(""), 1);
  EXPECT_EQ(index.find("b"), 3);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(index.add("a"), 0);
  const std::vector<std::string> names = {"x", "y", "x", "y", "z"};
  NameIndex all;
  EXPECT_EQ(all.add_all(names, [](const std::string& name) -> std::string_view { return name; }), 2);
  EXPECT_EQ(all.find("z"), 4);
  EXPECT_EQ(index.find("a"), 0);
  EXPECT_EQ(index.find("b"), 3);
}

TEST(NameIndex, MayBeAskedAheadWhileItIsEmpty) {
  NameIndex index;
  index.prefetch("a");
  EXPECT_EQ(index.find("a"), -1);
  index.add("a");
  index.prefetch("a");
  EXPECT_EQ(index.find("a"), 0);
}

}  // namespace
}  // namespace stope
