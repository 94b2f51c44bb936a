// Pools of threads that go from one search to the next.
#include "knn/gpu/spare_threads.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace stope::knn {
namespace {

TEST(SpareThreads, APoolIsLentAgainToWhoWantsAsManyThreads) {
  SpareThreads spare;
  std::unique_ptr<ThreadPool> first = spare.borrow(3);
  EXPECT_EQ(first->size(), 3);
  const ThreadPool* const there = first.get();
  spare.give_back(std::move(first));
  const std::unique_ptr<ThreadPool> other = spare.borrow(2);
  EXPECT_EQ(other->size(), 2);
  const std::unique_ptr<ThreadPool> again = spare.borrow(3);
  EXPECT_EQ(again.get(), there);
  EXPECT_NE(spare.borrow(3).get(), there) << "it is lent";
}

TEST(SpareThreads, TheTwoPoolsGivenBackLastAreKept) {
  SpareThreads spare;
  std::unique_ptr<ThreadPool> pools[] = {spare.borrow(2), spare.borrow(3), spare.borrow(4)};
  const ThreadPool *const second = pools[1].get(), *const third = pools[2].get();
  spare.give_back(nullptr);
  for (std::unique_ptr<ThreadPool>& pool : pools) spare.give_back(std::move(pool));
  EXPECT_EQ(spare.borrow(4).get(), third);
  EXPECT_EQ(spare.borrow(3).get(), second);
}

}  // namespace
}  // namespace stope::knn
