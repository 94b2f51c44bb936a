// Phases: what workers count, spans of a phase, rounds of a thread pool that count for it, long tasks.
#include "base/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/polled_sort.hpp"
#include "base/thread_pool.hpp"
#include "expect_error.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using Told = std::vector<std::pair<std::string, std::int64_t>>;

class Phases : public testing::Test {
 protected:
  Phases() {
    run_.progress = [this](std::string_view phase, std::int64_t done, std::int64_t) {
      told_.emplace_back(std::string(phase), done);
    };
  }
  void round(ThreadPool& pool, std::int64_t n_tasks) {
    pool.parallel_for(n_tasks, run_.cancel, [](std::int64_t, int) {});
  }

  RunOptions run_;
  Told told_;
  ThreadPool pool_{1};
};

TEST_F(Phases, CountEveryTaskOfTheirThreadWhereTheTotalIsNotKnown) {
  {
    const PhaseProgress phase(run_, "rows", 0);
    round(pool_, 2);
    round(pool_, 1);
  }
  EXPECT_EQ(told_, (Told{{"rows", 1}, {"rows", 2}, {"rows", 3}}));
  round(pool_, 5);
  EXPECT_EQ(told_.size(), 3U) << "the phase is over";
}

TEST_F(Phases, GoOnWhereAnEarlierOneEnded) {
  PhaseProgress first(run_, "rows", 0);
  round(pool_, 4);
  told_.clear();
  const PhaseProgress second(run_, "rows", 0, first.done());
  round(pool_, 1);
  EXPECT_EQ(told_, (Told{{"rows", 5}}));
}

TEST_F(Phases, CountNoRoundThatNoSpanAnnounces) {
  const PhaseProgress phase(run_, "rows", 100);
  round(pool_, 10);
  EXPECT_TRUE(told_.empty());
}

TEST_F(Phases, DivideASpanEquallyAmongItsRounds) {
  PhaseProgress phase(run_, "rows", 100);
  {
    const PhaseSpan span(phase, 0, 60, 2);
    round(pool_, 3);
    round(pool_, 2);
    round(pool_, 7);  // not announced
  }
  phase.reach(100);
  EXPECT_EQ(told_, (Told{{"rows", 10}, {"rows", 20}, {"rows", 30}, {"rows", 45}, {"rows", 60}, {"rows", 100}}));
}

TEST_F(Phases, GiveAnInnerSpanItsShareOfTheOuterOne) {
  PhaseProgress phase(run_, "rows", 100);
  for (const std::int64_t begin : {0, 50}) {
    const PhaseSpan block(phase, begin, begin + 50);
    for (std::int64_t part = 0; part < 2; ++part) {
      const PhaseSpan inner = PhaseSpan::share(part, 2, 1);
      round(pool_, 1);
    }
  }
  EXPECT_EQ(told_, (Told{{"rows", 25}, {"rows", 50}, {"rows", 75}, {"rows", 100}}));
}

TEST_F(Phases, DoNotCountRoundsInsideTasks) {
  const PhaseProgress phase(run_, "rows", 0);
  ThreadPool inner(1);
  pool_.parallel_for(2, run_.cancel, [&](std::int64_t, int) { round(inner, 10); });
  EXPECT_EQ(told_, (Told{{"rows", 1}, {"rows", 2}}));
}

TEST_F(Phases, AreHiddenByANewerPhaseAsLongAsItLives) {
  const PhaseProgress outer(run_, "outer", 0);
  {
    const PhaseProgress inner(run_, "inner", 0);
    round(pool_, 1);
  }
  round(pool_, 1);
  EXPECT_EQ(told_, (Told{{"inner", 1}, {"outer", 1}}));
}

TEST_F(Phases, AreUsableAfterARoundThatFailed) {
  const PhaseProgress phase(run_, "rows", 0);
  expect_error(ErrorCode::io, "no", [&] {
    pool_.parallel_for(3, run_.cancel, [](std::int64_t, int) { throw Error(ErrorCode::io, "no"); });
  });
  EXPECT_TRUE(told_.empty()) << "no task was done";
  round(pool_, 1);
  EXPECT_EQ(told_, (Told{{"rows", 1}}));
}

TEST_F(Phases, NeverGoBackWithManyThreads) {
  ThreadPool pool(4);
  PhaseProgress phase(run_, "rows", 1000);
  const PhaseSpan span(phase, 0, 1000, 1);
  round(pool, 500);
  ASSERT_FALSE(told_.empty());
  for (std::size_t i = 1; i < told_.size(); ++i) EXPECT_GT(told_[i].second, told_[i - 1].second);
  EXPECT_EQ(told_.back().second, 1000);
}

TEST_F(Phases, SayThatAJobIsUnderWay) {
  {
    const PhaseProgress phase(run_, "rows", 10);
    EXPECT_TRUE(run_.watch.state().running);
  }
  EXPECT_FALSE(run_.watch.state().running);
}

TEST_F(Phases, LongTasksTellFromInsideAndPoll) {
  PhaseProgress phase(run_, "rows", 100);
  TaskProgress task(phase, run_.cancel, 50);
  task.at(1, 5);
  task.at(1, 5);
  task.at(4, 5);
  task.finish();
  EXPECT_EQ(told_, (Told{{"rows", 10}, {"rows", 40}, {"rows", 50}}));
  run_.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled", [&] { task.at(5, 5); });
}

TEST_F(Phases, LongTasksTellNoMoreThanTheyAreWorth) {
  PhaseProgress phase(run_, "rows", 100);
  TaskProgress task(phase, run_.cancel, 50);
  task.at(3, 2);
  EXPECT_TRUE(told_.empty());
  task.finish();
  EXPECT_EQ(told_, (Told{{"rows", 50}}));
}

TEST_F(Phases, GoOnByStepsOnlyWhereNoRoundOrTotalCounts) {
  poll_step(run_.cancel);  // no phase
  const PhaseSpan span = PhaseSpan::share(0, 2, 1);
  round(pool_, 1);
  EXPECT_TRUE(told_.empty());
  const PhaseProgress phase(run_, "rows", 0);
  poll_step(run_.cancel);
  pool_.parallel_for(1, run_.cancel, [&](std::int64_t, int) { poll_step(run_.cancel); });
  EXPECT_EQ(told_, (Told{{"rows", 1}, {"rows", 2}})) << "the step inside the task is a part of it";
}

TEST_F(Phases, LongSortsGoOnAndCanBeCancelled) {
  std::vector<int> numbers(20'000);
  const auto scatter = [&] {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % numbers.size());
  };
  const PhaseProgress phase(run_, "sort", 0);
  scatter();
  polled_sort(numbers.begin(), numbers.end(), run_.cancel, std::less<>());
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_GE(told_.size(), 2U) << "some 300,000 comparisons are several steps";
  scatter();
  run_.cancel.cancel();
  expect_error(ErrorCode::cancelled, "cancelled",
               [&] { polled_sort(numbers.begin(), numbers.end(), run_.cancel, std::less<>()); });
}

}  // namespace
}  // namespace stope
