// Memory that goes from one job to the next.
#include "device/kept_memory.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace stope::device {
namespace {

std::vector<void*> freed;

class Kept : public testing::Test {
 protected:
  Kept() { freed.clear(); }
  /// Allocates block i.
  void* block(int i, std::int64_t bytes, int gpu = 0) {
    kept.add(&places[i], gpu, bytes);
    return &places[i];
  }
  KeptMemory kept{1000, [](void* memory) { freed.push_back(memory); }};
  char places[8] = {};
};

TEST_F(Kept, MemoryGoesToTheNextJob) {
  void* const a = block(0, 100);
  EXPECT_EQ(kept.take(0, 100), nullptr) << "it is in use";
  kept.give_back(a);
  EXPECT_EQ(kept.spare_bytes(0), 100);
  EXPECT_EQ(kept.take(0, 101), nullptr) << "it is too small";
  EXPECT_EQ(kept.take(0, 49), nullptr) << "it is too large";
  EXPECT_EQ(kept.take(1, 100), nullptr) << "it is another GPU's";
  EXPECT_EQ(kept.take(0, 50), a);
  EXPECT_EQ(kept.take(0, 50), nullptr) << "it is in use again";
  EXPECT_EQ(kept.spare_bytes(0), 0);
  EXPECT_TRUE(freed.empty());
}

TEST_F(Kept, TheSmallestThatFitsIsTaken) {
  for (int i = 0; i < 3; ++i) block(i, 120 - 10 * i);
  for (char& place : places) kept.give_back(&place);  // the others are not known: nothing happens
  EXPECT_EQ(kept.take(0, 105), &places[1]);
  EXPECT_EQ(kept.take(0, 105), &places[0]);
  EXPECT_EQ(kept.take(0, 105), nullptr);
}

TEST_F(Kept, TheOldestSpareMemoryMakesRoom) {
  for (int i = 0; i < 4; ++i) block(i, 400);
  block(4, 400, 1);
  for (const int i : {4, 2, 0, 1}) kept.give_back(&places[i]);
  EXPECT_EQ(freed, std::vector<void*>{&places[2]}) << "the other GPU has its own limit, and memory in use stays";
  EXPECT_EQ(kept.spare_bytes(0), 800);
  EXPECT_EQ(kept.spare_bytes(1), 400);
  EXPECT_EQ(kept.gpu_of(&places[2]), -1);
  EXPECT_EQ(kept.gpu_of(&places[3]), 0);
}

TEST_F(Kept, LargeMemoryIsFreedAtOnce) {
  kept.give_back(block(0, 400));
  kept.give_back(block(1, 501));
  EXPECT_EQ(freed, std::vector<void*>{&places[1]});
  EXPECT_EQ(kept.take(0, 400), &places[0]);
}

TEST_F(Kept, AGpuWithoutRoomGetsItsSpareMemoryBack) {
  block(0, 100);
  kept.give_back(block(1, 100));
  kept.give_back(block(2, 100, 1));
  kept.drop_spare(0);
  EXPECT_EQ(freed, std::vector<void*>{&places[1]});
  kept.drop(&places[0]);
  kept.drop(&places[5]);  // was never known
  EXPECT_EQ(freed, (std::vector<void*>{&places[1], &places[0], &places[5]}));
  EXPECT_EQ(kept.gpu_of(&places[0]), -1);
  EXPECT_EQ(kept.take(1, 100), &places[2]);
}

}  // namespace
}  // namespace stope::device
