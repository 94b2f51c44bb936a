#include "base/rank_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effort.hpp"
#include "expect_error.hpp"

namespace stope {
namespace {

using Lists = std::vector<std::vector<std::string>>;

// Compares the ranks with those in a std::set.
void expect_ranks(const Lists& lists) {
  std::set<std::string> sorted;
  std::vector<std::vector<std::string_view>> views;
  std::size_t n = 0;
  for (const auto& list : lists) {
    sorted.insert(list.begin(), list.end());
    views.emplace_back(list.begin(), list.end());
    n += list.size();
  }
  const std::vector<std::string> texts(sorted.begin(), sorted.end());
  const std::vector<std::span<const std::string_view>> spans(views.begin(), views.end());
  const std::vector<RankedText> found = rank_texts(spans, {});
  ASSERT_EQ(found.size(), n);
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  std::uint64_t last = 0;
  for (const RankedText& text : found) {
    ASSERT_LT(text.rank, texts.size());
    ASSERT_EQ(lists[text.list][text.index], texts[text.rank]);
    ASSERT_LE(last, text.rank);
    last = text.rank;
    places.emplace(text.list, text.index);
  }
  EXPECT_EQ(places.size(), n);
}

// Texts of `letters`, with `beginning` before some of them.
Lists random_lists(std::mt19937_64& g, std::size_t n, std::size_t longest, const std::string& letters,
                   const std::string& beginning) {
  Lists lists(1 + g() % 3);
  for (auto& list : lists) {
    for (std::size_t i = 0; i < n; ++i) {
      std::string text = g() % 3 != 0 ? beginning : "";
      for (std::size_t size = g() % (longest + 1); size > 0; --size) text += letters[g() % letters.size()];
      list.push_back(text);
    }
  }
  return lists;
}

TEST(RankTexts, AreThoseOfASort) {
  std::mt19937_64 g(1);
  const std::string zeros("\0\0a", 3), bytes("\x7f\x80\xff", 3);
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  std::int64_t number = 0;
  for (const std::size_t n : {1, 5, 31, 33, 100, 1000, 5000}) {
    for (const std::size_t longest : {0, 1, 6, 7, 8, 9, 15, 40}) {
      if (!chosen(number++)) continue;
      expect_ranks(random_lists(g, n, longest, "0123456789", ""));
      expect_ranks(random_lists(g, n, longest, "ab", "text "));
      expect_ranks(random_lists(g, n, longest, every_byte, ""));
      expect_ranks(random_lists(g, n, longest, zeros, "no end in seven bytes"));
      expect_ranks(random_lists(g, n, longest, zeros, std::string("\0", 1)));
      expect_ranks(random_lists(g, n, longest, bytes, "a beginning of more than seven bytes"));
    }
  }
}

TEST(RankTexts, OfTextsThatGoOnForLong) {
  Lists lists(2);
  for (std::size_t i = 0; i < 700; ++i) {
    lists[i % 2].push_back(std::string(i * 9, 'a'));
    lists[i % 2].push_back(std::string(5000, 'a') + std::to_string(i / 3));
  }
  expect_ranks(lists);
}

TEST(RankTexts, OfManyTextsThatAllGoOn) {
  std::mt19937_64 g(2);
  Lists lists(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    for (int c = 0; c < 14; ++c) text += static_cast<char>('a' + g() % 3);
    lists[0].push_back(text);
  }
  expect_ranks(lists);
}

TEST(SortTexts, TellsWhereEachHasGone) {
  std::mt19937_64 g(3);
  for (const std::size_t n : {2, 40, 6000}) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < n; ++i) texts.push_back("text " + std::to_string(i));
    std::shuffle(texts.begin(), texts.end(), g);
    if (n == 2) texts = {"b", "a"};
    const std::vector<std::string> before = texts;
    const std::vector<std::int32_t> places = sort_texts(texts, {});
    EXPECT_TRUE(std::is_sorted(texts.begin(), texts.end()));
    ASSERT_EQ(places.size(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(texts[static_cast<std::size_t>(places[i])], before[i]);
    EXPECT_TRUE(sort_texts(texts, {}).empty());
  }
}

TEST(RankTexts, OfNoTexts) {
  expect_ranks({});
  expect_ranks({{}, {}});
  expect_ranks({{}, {"", ""}, {""}});
}

TEST(RankTexts, CanBeCancelled) {
  std::vector<std::string> texts;
  for (int i = 0; i < 100'000; ++i) texts.push_back(std::to_string(i));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<std::span<const std::string_view>> spans{views};
  CancelToken cancel;
  cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { rank_texts(spans, cancel); });
}

}  // namespace
}  // namespace stope
