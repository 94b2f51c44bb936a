// Places for answers: which are lent, and who waits.
#include "knn/gpu/differences/answer_places.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>

namespace stope::knn {
namespace {

TEST(AnswerPlaces, TwoHaveAPlaceEachAndAThirdWaitsForOne) {
  AnswerPlaces places;
  std::optional<AnswerPlaces::Borrowed> first(std::in_place, places);
  const AnswerPlaces::Borrowed second(places);
  const int number = first->number();
  EXPECT_NE(number, second.number());
  std::future<int> third = std::async(std::launch::async, [&] { return AnswerPlaces::Borrowed(places).number(); });
  EXPECT_EQ(third.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();
  EXPECT_EQ(third.get(), number);
  EXPECT_EQ(AnswerPlaces::Borrowed(places).number(), number) << "the third has given it back";
}

TEST(AnswerPlaces, ThePlaceThatIsWantedIsLentIfItIsFree) {
  AnswerPlaces places;
  const AnswerPlaces::Borrowed wanted(places, 1);
  EXPECT_EQ(wanted.number(), 1);
  EXPECT_EQ(AnswerPlaces::Borrowed(places, 1).number(), 0);
}

TEST(AnswerPlaces, APlaceThatMustBeThisOneIsWaitedForWhileAnotherIsFree) {
  AnswerPlaces places;
  std::optional<AnswerPlaces::Borrowed> first(std::in_place, places);
  ASSERT_EQ(first->number(), 0);
  std::future<int> exact =
      std::async(std::launch::async, [&] { return AnswerPlaces::Borrowed(places, 0, true).number(); });
  EXPECT_EQ(exact.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  first.reset();
  EXPECT_EQ(exact.get(), 0);
}

}  // namespace
}  // namespace stope::knn
