// What happens to a list that outgrows the plan, and that its memory serves the next query.
#include "knn/lists/collector.hpp"

#include <gtest/gtest.h>

namespace stope::knn {
namespace {

TEST(Collector, AListThatOutgrowsThePlanSaysSo) {
  Selection selection;
  selection.kind = Selection::Kind::radius;
  selection.radius = 1.0;
  selection.longest = 3;
  Collector collector;
  collector.reset(selection);
  for (std::int64_t row = 0; row < 3; ++row) collector.offer({1.0, row});
  collector.offer({1.5, 3});
  EXPECT_FALSE(collector.too_long());
  collector.offer({0.5, 4});
  EXPECT_TRUE(collector.too_long());

  selection.longest = 4;
  collector.reset(selection);
  EXPECT_FALSE(collector.too_long());
  for (std::int64_t row = 4; row > 0; --row) collector.offer({0.5, row});
  EXPECT_FALSE(collector.too_long());
  const std::vector<Neighbor>& list = collector.take(0);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list.front().row, 1);
}

}  // namespace
}  // namespace stope::knn
