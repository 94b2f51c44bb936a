// RunOptions: cancel token, thread count, memory budget; the version of the library.
#include "stope/run.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include "base/memory.hpp"
#include "stope/error.hpp"
#include "stope/version.hpp"

namespace stope {
namespace {

TEST(CancelToken, CopiesShareTheFlag) {
  const CancelToken token;
  const CancelToken copy = token;
  const CancelToken other;
  EXPECT_FALSE(copy.cancelled());
  EXPECT_NO_THROW(copy.check());
  std::thread([&] { token.cancel(); }).join();
  EXPECT_TRUE(copy.cancelled());
  EXPECT_FALSE(other.cancelled());
  try {
    copy.check();
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_TRUE(token.cancelled()) << "the flag stays up";
}

const CancelToken* token_of_handler = nullptr;

TEST(CancelToken, CanBeCancelledFromASignalHandler) {
  const CancelToken token;
  token_of_handler = &token;
  const auto previous = std::signal(SIGUSR1, [](int) { token_of_handler->cancel(); });
  ASSERT_NE(previous, SIG_ERR);
  ASSERT_EQ(std::raise(SIGUSR1), 0);
  std::signal(SIGUSR1, previous);
  EXPECT_TRUE(token.cancelled());
}

TEST(ProgressWatch, CopiesShareWhatTheySee) {
  const RunOptions run;
  const ProgressWatch watch = run.watch;
  EXPECT_FALSE(watch.state().running);
  EXPECT_EQ(watch.state().phase, "");
  run.watch.begin();
  run.watch.begin();  // a job inside the job
  run.watch.update("search", 3, 10);
  run.watch.end();
  std::thread([&] {
    const ProgressState state = watch.state();
    EXPECT_EQ(state.phase, "search");
    EXPECT_EQ(state.done, 3);
    EXPECT_EQ(state.total, 10);
    EXPECT_TRUE(state.running);
  }).join();
  run.watch.end();
  EXPECT_FALSE(watch.state().running);
  EXPECT_EQ(watch.state().done, 3);
  EXPECT_EQ(RunOptions().watch.state().phase, "") << "each RunOptions has its own";
}

TEST(MemoryBudget, IsTheLimitGiven) {
  RunOptions options;
  for (const std::int64_t limit : {std::int64_t{1}, std::int64_t{1} << 20, INT64_MAX}) {
    options.memory_limit = limit;
    EXPECT_EQ(memory_budget(options), limit);
  }
}

TEST(MemoryBudget, DefaultsToMostOfWhatIsAvailable) {
  const std::int64_t budget = memory_budget(RunOptions());
  EXPECT_GT(budget, 0);
  EXPECT_LT(budget, memory_total_bytes());
}

TEST(MemoryBudget, RefusesANegativeLimit) {
  RunOptions options;
  options.memory_limit = -5;
  try {
    memory_budget(options);
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(), "memory limit -5 is negative");
  }
}

TEST(Memory, AvailableIsAPartOfTotal) {
  EXPECT_GT(memory_available_bytes(), 0);
  EXPECT_LE(memory_available_bytes(), memory_total_bytes());
}

TEST(AvailableThreads, IsAtLeastOneAndAtMostTheMachines) {
  EXPECT_GE(available_threads(), 1);
  const unsigned machine = std::thread::hardware_concurrency();
  if (machine > 0) {
    EXPECT_LE(available_threads(), static_cast<int>(machine));
  }
}

TEST(Version, OfLibraryAndHeaderAgree) {
  EXPECT_EQ(version(), STOPE_VERSION);
}

}  // namespace
}  // namespace stope
