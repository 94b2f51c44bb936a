// Objects of --json: the order of members, look-ups by hash, and how often keys are looked at.
#include "report/json_members.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "report/json.hpp"

namespace stope::cli {
namespace {

// A key that counts how often anyone looks at its text.
struct CountedKey {
  explicit CountedKey(std::string key) : text(std::move(key)) {}
  operator std::string_view() const {  // NOLINT(google-explicit-constructor): as std::string has it
    ++looks;
    return text;
  }
  std::string text;
  static inline std::int64_t looks = 0;
};

using CountedMembers = JsonMembers<CountedKey, int, std::less<>, std::allocator<std::pair<const CountedKey, int>>>;

std::int64_t looks_for(int n_members) {
  CountedKey::looks = 0;
  CountedMembers members;
  for (int i = 0; i < n_members; ++i) members.emplace(CountedKey("c" + std::to_string(i)), int{i});
  for (int i = 0; i < n_members; ++i) EXPECT_EQ(members.at(CountedKey("c" + std::to_string(i))), i);
  return CountedKey::looks;
}

TEST(JsonMembers, TenTimesTheMembersTakeTenTimesTheComparisons) {
  EXPECT_LT(looks_for(100'000), 15 * looks_for(10'000));
  EXPECT_LT(looks_for(100'000), 20 * 100'000);
}

TEST(JsonMembers, JsonOfTheCommandLineHasThem) {
  using Wanted = JsonMembers<std::string, Json, std::less<>, std::allocator<std::pair<const std::string, Json>>>;
  EXPECT_TRUE((std::is_same_v<Json::object_t, Wanted>));
}

// Sizes around the one from which on members are hashed, and those at which slots are doubled.
TEST(JsonMembers, DoAsTheOrderedMapOfTheLibraryDoes) {
  for (const int n : {0, 1, 15, 16, 17, 31, 32, 33, 64, 65, 1000}) {
    Json mine = Json::object();
    nlohmann::ordered_json theirs = nlohmann::ordered_json::object();
    for (int i = 0; i < n; ++i) {
      const std::string key = "key " + std::to_string(i * 7919 % 1009);
      mine[key] = i;
      theirs[key] = i;
    }
    const auto expect_same = [&] {
      EXPECT_EQ(mine.dump(), theirs.dump()) << n;
      EXPECT_EQ(Json::parse(theirs.dump()).dump(), theirs.dump()) << n;
      for (int i = 0; i < 1009; i += 3) {
        const std::string key = "key " + std::to_string(i);
        ASSERT_EQ(mine.contains(key), theirs.contains(key)) << n << key;
        if (!mine.contains(key)) continue;
        ASSERT_EQ(mine.at(key).get<int>(), theirs.at(key).get<int>()) << n << key;
      }
    };
    expect_same();
    for (int i = 0; i < n; i += 5) {
      const std::string key = "key " + std::to_string(i * 7919 % 1009);
      EXPECT_EQ(mine.erase(key), theirs.erase(key));
    }
    expect_same();
    mine["key 0"] = theirs["key 0"] = -1;
    const Json copy = mine;
    mine.clear();
    theirs["last"] = 1;
    mine = copy;
    mine["last"] = 1;
    expect_same();
  }
}

TEST(JsonMembers, TheLastOfEqualKeysCounts) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += "\"k" + std::to_string(i % 20) + "\":" + std::to_string(i) + ",";
  text.back() = '}';
  EXPECT_EQ(Json::parse(text).dump(), nlohmann::ordered_json::parse(text).dump());
}

}  // namespace
}  // namespace stope::cli
