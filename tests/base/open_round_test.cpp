// A worker joins each round once, and none that is over.
#include "base/open_round.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace stope {
namespace {

TEST(OpenRound, IsThereOnceForEachWorker) {
  OpenRound round;
  round.open();
  EXPECT_TRUE(round.is_new_to(0));
  EXPECT_FALSE(round.is_new_to(round.number())) << "a worker that has joined it";
}

TEST(OpenRound, IsNotThereBeforeTheFirstAndAfterEach) {
  OpenRound round;
  EXPECT_FALSE(round.is_new_to(0));
  round.open();
  const std::uint64_t first = round.number();
  round.close();
  EXPECT_FALSE(round.is_new_to(0)) << "a worker that has woken too late";
  EXPECT_FALSE(round.is_new_to(first));
}

TEST(OpenRound, IsNewToWorkersOfAnyRoundBefore) {
  OpenRound round;
  round.open();
  const std::uint64_t first = round.number();
  round.close();
  round.open();
  const std::uint64_t second = round.number();
  EXPECT_TRUE(round.is_new_to(0)) << "a worker that has missed the first";
  EXPECT_TRUE(round.is_new_to(first));
  EXPECT_FALSE(round.is_new_to(second));
}

}  // namespace
}  // namespace stope
