// Blocks begin in order, ahead of those that are finished, but not further ahead than asked, whichever thread begins
// them.
#include "knn/search/block_feeder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace stope::knn {
namespace {

class Feeder : public testing::TestWithParam<BlockFeeder::In> {};
INSTANTIATE_TEST_SUITE_P(Both, Feeder, testing::Values(BlockFeeder::In::a_thread, BlockFeeder::In::the_callers));

TEST_P(Feeder, BeginsInOrderAndNotTooFarAhead) {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 100}) {
    for (const std::int64_t under_way : {1, 2, 3, 5}) {
      SCOPED_TRACE(testing::Message() << n << " blocks, " << under_way << " under way");
      std::vector<std::int64_t> begun;  // read after wait_for() has returned
      std::atomic<std::int64_t> done = 0;
      std::atomic<bool> too_far = false;
      {
        BlockFeeder feeder(n, under_way, GetParam(), [&](std::int64_t number) {
          if (number >= done + under_way) too_far = true;
          begun.push_back(number);
        });
        for (std::int64_t number = 0; number < n; ++number) {
          feeder.wait_for(number);
          ++done;  // before the feeder knows
          feeder.done(number);
        }
      }
      EXPECT_FALSE(too_far);
      ASSERT_EQ(begun.size(), static_cast<std::size_t>(n));
      for (std::int64_t number = 0; number < n; ++number) EXPECT_EQ(begun[static_cast<std::size_t>(number)], number);
    }
  }
}

TEST_P(Feeder, ABlockThatFailsIsReportedInItsTurn) {
  for (const std::int64_t failing : {1, 2, 5}) {
    BlockFeeder feeder(8, 3, GetParam(), [&](std::int64_t number) {
      if (number == failing) throw std::runtime_error("block " + std::to_string(number));
    });
    std::int64_t finished = 0;
    try {
      for (; finished < 8; ++finished) {
        feeder.wait_for(finished);
        feeder.done(finished);
      }
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "block " + std::to_string(failing));
    }
    // The feeder's own thread first lets the blocks end that began before.
    EXPECT_LE(finished, failing);
    EXPECT_TRUE(finished == failing || GetParam() != BlockFeeder::In::a_thread) << finished;
  }
  EXPECT_THROW(BlockFeeder(2, 2, GetParam(), [](std::int64_t) { throw std::runtime_error("the first"); }),
               std::runtime_error);
}

// The error of a sink leaves blocks that have begun, and some that have not.
TEST_P(Feeder, EndsBeforeAllBlocksAreDone) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> begun = 0;
    {
      BlockFeeder feeder(1000, 3, GetParam(), [&](std::int64_t) { ++begun; });
      feeder.wait_for(0);
    }
    EXPECT_GE(begun, 1);
    EXPECT_LE(begun, 3);
  }
}

}  // namespace
}  // namespace stope::knn
