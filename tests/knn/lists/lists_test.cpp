// Lists that have places in the arrays of a result, and lists of any length.
#include "knn/lists/lists.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.hpp"

namespace stope::knn {
namespace {

TEST(Lists, PlacedOnesAreWrittenToTheArraysAtOnce) {
  std::vector<std::int64_t> rows(6, 77);
  std::vector<double> distances(6, 77.0);
  Lists lists;
  lists.reset(3, 2, rows.data(), distances.data());
  EXPECT_EQ(lists.size(), 3U);
  EXPECT_TRUE(lists.list(1).empty());
  lists.put(2, {{0.5, 9}, {1.5, 4}});
  lists.put(0, {{0.25, 3}});
  EXPECT_EQ(rows, (std::vector<std::int64_t>{3, 77, 77, 77, 9, 4}));
  EXPECT_EQ(lists.length(0), 1);
  ASSERT_EQ(lists.list(2).size(), 2U);
  EXPECT_EQ(lists.list(2)[1].row, 4);
  EXPECT_EQ(lists.list(2)[1].distance, 1.5);
  EXPECT_FALSE(lists.full());
  lists.fill_up({std::nan(""), -1});
  EXPECT_EQ(rows, (std::vector<std::int64_t>{3, -1, -1, -1, 9, 4}));
  EXPECT_EQ(distances[0], 0.25);
  EXPECT_TRUE(std::isnan(distances[1]));
  lists.put(0, {{0.25, 3}, {0.5, 5}});
  lists.put(1, {{0.0, 1}, {0.0, 2}});
  EXPECT_TRUE(lists.full());
}

TEST(Lists, NoListLeavesItsPlace) {
  std::vector<std::int64_t> rows(2);
  std::vector<double> distances(2);
  Lists lists;
  lists.reset(2, 1, rows.data(), distances.data());
  expect_error(ErrorCode::internal, "longer than its place", [&] { lists.put(0, {{0.0, 1}, {0.0, 2}}); });
}

TEST(Lists, OfAnyLengthKeepWhatTheyGet) {
  Lists lists(2);
  lists.put(1, {{0.5, 9}, {1.5, 4}, {2.5, 6}});
  EXPECT_EQ(lists.length(0), 0);
  EXPECT_EQ(lists.length(1), 3);
  EXPECT_EQ(lists.list(1)[2].row, 6);
  lists.reset(1);
  EXPECT_EQ(lists.size(), 1U);
  EXPECT_EQ(lists.length(0), 0);
}

}  // namespace
}  // namespace stope::knn
