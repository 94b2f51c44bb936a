// ThreadPool runs every task once. Exceptions and cancellation reach the caller, and the pool survives them.
#include "base/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/progress.hpp"
#include "base/threads_for.hpp"
#include "forking.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

class ThreadPoolOfSize : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolOfSize, testing::Values(1, 2, 3, 4, 5, 6, 7, 8));

TEST_P(ThreadPoolOfSize, RunsEveryTaskOnceWithAWorkerOfItsOwn) {
  ThreadPool pool(GetParam());
  ASSERT_EQ(pool.size(), GetParam());
  for (const std::int64_t n : {0, 1, 2, 7, 31, 32, 33, 1000}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
    std::vector<std::atomic<int>> inside(static_cast<std::size_t>(pool.size()));
    std::atomic<bool> shared_worker = false;
    std::atomic<bool> bad_worker = false;
    pool.parallel_for(n, CancelToken(), [&](std::int64_t i, int worker) {
      if (worker < 0 || worker >= pool.size()) {
        bad_worker = true;
        return;
      }
      auto& mine = inside[static_cast<std::size_t>(worker)];
      if (mine.fetch_add(1) != 0) shared_worker = true;
      runs[static_cast<std::size_t>(i)].fetch_add(1);
      mine.fetch_sub(1);
    });
    for (const auto& count : runs) EXPECT_EQ(count.load(), 1) << n << " tasks";
    EXPECT_FALSE(shared_worker) << "two tasks ran under one worker number at a time";
    EXPECT_FALSE(bad_worker);
  }
}

TEST_P(ThreadPoolOfSize, RethrowsTheLowestFailingTaskAndSkipsTheRest) {
  ThreadPool pool(GetParam());
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::atomic<std::int64_t> run = 0;
    try {
      pool.parallel_for(100000, CancelToken(), [&](std::int64_t i, int) {
        ++run;
        if (i >= 40) throw std::runtime_error("task " + std::to_string(i));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "task 40");
    }
    EXPECT_GE(run.load(), 41);
    EXPECT_LE(run.load(), 40 + GetParam()) << "each thread meets one failing task at most";
  }
  std::atomic<int> after = 0;
  pool.parallel_for(50, CancelToken(), [&](std::int64_t, int) { ++after; });
  EXPECT_EQ(after.load(), 50) << "the pool is usable after an exception";
}

TEST_P(ThreadPoolOfSize, CarriesErrorsOfEveryType) {
  ThreadPool pool(GetParam());
  EXPECT_THROW(pool.parallel_for(3, CancelToken(), [](std::int64_t, int) { throw 7; }), int);
  try {
    pool.parallel_for(3, CancelToken(), [](std::int64_t, int) { throw Error(ErrorCode::unsupported, "so it goes"); });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_STREQ(error.what(), "so it goes");
  }
}

TEST_P(ThreadPoolOfSize, StopsWhenCancelled) {
  ThreadPool pool(GetParam());
  const CancelToken before;
  before.cancel();
  std::atomic<std::int64_t> run = 0;
  try {
    pool.parallel_for(10, before, [&](std::int64_t, int) { ++run; });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_EQ(run.load(), 0);

  const CancelToken during;
  try {
    pool.parallel_for(1000000, during, [&](std::int64_t i, int) {
      ++run;
      if (i == 5) during.cancel();
    });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_LT(run.load(), 1000000);
}

TEST_P(ThreadPoolOfSize, RefusesNestedWorkInsteadOfWaitingForItself) {
  ThreadPool pool(GetParam());
  try {
    pool.parallel_for(4, CancelToken(),
                      [&](std::int64_t, int) { pool.parallel_for(2, CancelToken(), [](std::int64_t, int) {}); });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
  }
  std::atomic<int> after = 0;
  pool.parallel_for(9, CancelToken(), [&](std::int64_t, int) { ++after; });
  EXPECT_EQ(after.load(), 9);
}

std::int64_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

TEST(ThreadPool, StartsNoMoreThreadsThanThereAreTasks) {
  const std::int64_t before = threads_of_process();
  ThreadPool pool(64);
  EXPECT_EQ(pool.size(), 64);
  EXPECT_EQ(threads_of_process(), before) << "a pool without work";
  pool.parallel_for(1, CancelToken(), [](std::int64_t, int) {});
  EXPECT_EQ(threads_of_process(), before) << "one task is the caller's";
  pool.parallel_for(3, CancelToken(), [](std::int64_t, int) {});
  EXPECT_EQ(threads_of_process(), before + 2);
  pool.parallel_for(2, CancelToken(), [](std::int64_t, int) {});
  EXPECT_EQ(threads_of_process(), before + 2) << "threads stay";
}

// Rounds follow one another so fast that workers look for the next one, or so slowly that they fall asleep between.
TEST(ThreadPool, WorkersThatStayAwakeRunEveryTaskOfEveryRound) {
  ThreadPool pool(4, std::chrono::microseconds{200});
  for (const int pause : {0, 0, 1, 0}) {
    for (int round = 0; round < (pause == 0 ? 2000 : 20); ++round) {
      const std::int64_t n = round % 9;
      std::atomic<std::int64_t> sum = 0;
      pool.parallel_for(n, CancelToken(), [&](std::int64_t i, int) { sum += i + 1; });
      ASSERT_EQ(sum, n * (n + 1) / 2) << "round " << round;
      if (pause != 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    }
  }
}

TEST(ThreadPool, TellsProgressWhileTheCallerOnlyWaits) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> working = false, told = false;
  RunOptions run;
  run.progress = [&](std::string_view, std::int64_t done, std::int64_t) {
    if (working && done == 1) told = true;
  };
  PhaseProgress progress(run, "waiting", 2);
  ThreadPool pool(2);
  pool.parallel_for(
      2, CancelToken(),
      [&](std::int64_t, int) {
        if (std::this_thread::get_id() == caller) {
          while (!working) std::this_thread::yield();
          return;
        }
        progress.add(1);
        working = true;
        for (int i = 0; i < 3000 && !told; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        working = false;
      },
      &progress);
  EXPECT_TRUE(told);
}

// Three tasks, each on a thread of its own. The caller's ends at once, the next one's after the caller was told of
// that, and the last one's after the caller, who only waits by then, was told of two.
void run_while_the_caller_waits(ThreadPool& pool, const std::atomic<std::int64_t>& told) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> begun = 0, workers = 0;
  const auto wait_for = [](const auto& reached) {
    for (int i = 0; i < 3000 && !reached(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  pool.parallel_for(3, CancelToken(), [&](std::int64_t, int) {
    ++begun;
    wait_for([&] { return begun == 3; });
    if (std::this_thread::get_id() == caller) return;
    const int least = ++workers;
    wait_for([&] { return told >= least; });
  });
}

TEST(ThreadPool, CountsTasksForThePhaseWhileTheCallerOnlyWaits) {
  std::atomic<std::int64_t> told = 0;
  RunOptions run;
  run.progress = [&](std::string_view, std::int64_t done, std::int64_t) { told = done; };
  const PhaseProgress phase(run, "waiting", 0);
  ThreadPool pool(3);
  const auto began = std::chrono::steady_clock::now();
  run_while_the_caller_waits(pool, told);
  EXPECT_EQ(told, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(25)) << "a task waited in vain";
}

TEST(ThreadPool, CarriesWhatTheCallbackThrowsWhileTheCallerOnlyWaits) {
  std::atomic<std::int64_t> told = 0;
  RunOptions run;
  run.progress = [&](std::string_view, std::int64_t done, std::int64_t) {
    told = done;
    if (done == 2) throw std::runtime_error("the callback's own");
  };
  const PhaseProgress phase(run, "waiting", 0);
  ThreadPool pool(3);
  try {
    run_while_the_caller_waits(pool, told);
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "the callback's own");
  }
  std::atomic<int> runs = 0;
  pool.parallel_for(10, CancelToken(), [&](std::int64_t, int) { ++runs; });
  EXPECT_EQ(runs, 10) << "the pool is of use again";
}

TEST(ThreadsFor, IsAsManyAsTheWorkIsWorth) {
  EXPECT_EQ(threads_for(0.0, 8), 1);
  EXPECT_EQ(threads_for(1e9, 8), 8);
  EXPECT_EQ(threads_for(4.5 * kSecondsPerThread, 8), 4);
  EXPECT_EQ(threads_for(std::numeric_limits<double>::infinity(), 3), 3);
  EXPECT_EQ(threads_for(1.0, 0), 1);
}

TEST(ThreadPool, EndsInAForkedProcessWithoutItsThreads) {
  if (const std::string why = why_no_fork(); !why.empty()) GTEST_SKIP() << why;
  auto pool = std::make_unique<ThreadPool>(4);
  pool->parallel_for(4, CancelToken(), [](std::int64_t, int) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(10);  // a destructor that waits for ever ends the child with a signal
    pool.reset();
    ThreadPool other(2);
    std::atomic<int> runs = 0;
    other.parallel_for(10, CancelToken(), [&](std::int64_t, int) { ++runs; });
    _exit(runs == 10 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ThreadPool, AnotherPoolInsideATaskIsFine) {
  ThreadPool outer(2);
  std::atomic<int> run = 0;
  outer.parallel_for(4, CancelToken(), [&](std::int64_t, int) {
    ThreadPool inner(2);
    inner.parallel_for(8, CancelToken(), [&](std::int64_t, int) { ++run; });
  });
  EXPECT_EQ(run.load(), 32);
}

TEST(ThreadPool, ManyShortRoundsLoseNoWork) {
  ThreadPool pool(8);
  std::atomic<std::int64_t> sum = 0;
  for (int round = 0; round < 2000; ++round) {
    pool.parallel_for(round % 5, CancelToken(), [&](std::int64_t i, int) { sum += i + 1; });
  }
  EXPECT_EQ(sum.load(), 400 * (0 + 1 + 3 + 6 + 10));
}

TEST(ThreadPool, ZeroOrNegativeMeansAllCores) {
  EXPECT_EQ(ThreadPool(0).size(), available_threads());
  EXPECT_EQ(ThreadPool(-3).size(), available_threads());
}

TEST(ThreadPool, NoTasksRunNothingAndDoNotPollTheToken) {
  ThreadPool pool(2);
  const CancelToken cancelled;
  cancelled.cancel();
  bool run = false;
  EXPECT_NO_THROW(pool.parallel_for(0, cancelled, [&](std::int64_t, int) { run = true; }));
  EXPECT_NO_THROW(pool.parallel_for(-1, cancelled, [&](std::int64_t, int) { run = true; }));
  EXPECT_FALSE(run);
}

}  // namespace
}  // namespace stope
