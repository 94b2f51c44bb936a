// Dense decompositions can be stopped at any step, and tell how far they are.
#include "gram/dense.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"
#include "effort.hpp"
#include "stope/error.hpp"

namespace stope::gram {
namespace {

std::vector<double> symmetric(std::int64_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> matrix(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double value = static_cast<double>(random.next() >> 11) * 0x1.0p-53 - 0.5;
      matrix[static_cast<std::size_t>(i * n + j)] = matrix[static_cast<std::size_t>(j * n + i)] = value;
    }
  }
  return matrix;
}

struct Step {
  std::string phase;
  std::int64_t done, total;
};

TEST(Dense, TellsOfEveryStageFromItsBeginToItsEnd) {
  constexpr std::int64_t kSize = 150;
  std::vector<double> matrix = symmetric(kSize, 1), values;
  std::vector<Step> steps;
  RunOptions run;
  run.progress = [&](std::string_view phase, std::int64_t done, std::int64_t total) {
    steps.push_back({std::string(phase), done, total});
  };
  symmetric_eigen(kSize, matrix.data(), values, run.cancel, &run);
  for (const char* phase : {"tridiagonal form", "eigenvalues"}) {
    std::int64_t n_told = 0, last = 0;
    for (const Step& step : steps) {
      if (step.phase != phase) continue;
      EXPECT_GT(step.done, last);
      EXPECT_EQ(step.total, kSize - 1);
      last = step.done;
      ++n_told;
    }
    EXPECT_EQ(last, kSize - 1) << phase;
    EXPECT_GE(n_told, 5) << phase;
  }
}

TEST(Dense, GivesTheSameBitsWhetherItTellsOrNot) {
  std::vector<double> told = symmetric(60, 2), silent = told, values, others;
  RunOptions run;
  run.progress = [](std::string_view, std::int64_t, std::int64_t) {};
  symmetric_eigen(60, told.data(), values, run.cancel, &run);
  symmetric_eigen(60, silent.data(), others, run.cancel);
  EXPECT_EQ(told, silent);
  EXPECT_EQ(values, others);
}

TEST(Dense, TellsNothingMoreOnceItIsCancelled) {
  for (int moment = 1; moment <= 40; moment += 3) {
    std::vector<double> matrix = symmetric(150, 3), values;
    int n_told = 0, n_after = 0;
    RunOptions run;
    run.progress = [&](std::string_view, std::int64_t, std::int64_t) {
      n_after += run.cancel.cancelled() ? 1 : 0;
      if (++n_told == moment) run.cancel.cancel();
    };
    try {
      symmetric_eigen(150, matrix.data(), values, run.cancel, &run);
      EXPECT_LT(n_told, moment) << "it went on after it was cancelled";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
    EXPECT_EQ(n_after, 0) << "it polls between two reports";
  }
}

template <class Decompose>
bool is_stopped(const Decompose& decompose, const CancelToken& cancel) {
  try {
    decompose(cancel);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
    return true;
  }
  return false;
}

// The thread stops a decomposition wherever it happens to be. No step may lose memory or end the process. Which of them
// it meets is up to the machine, so only what is cancelled beforehand must have been stopped.
template <class Decompose>
void stop_at_many_moments(const Decompose& decompose) {
  const CancelToken cancelled;
  cancelled.cancel();
  EXPECT_TRUE(is_stopped(decompose, cancelled));
  for (int moment = 0; moment < 200; ++moment) {
    if (!chosen(moment)) continue;
    const CancelToken cancel;
    std::atomic<bool> begun{false};
    std::thread stopper([&] {
      while (!begun.load()) std::this_thread::yield();
      for (std::atomic<int> i = 0; i < moment * 2000; ++i) {
      }
      cancel.cancel();
    });
    begun.store(true);
    is_stopped(decompose, cancel);
    stopper.join();
  }
}

TEST(Dense, EigenvaluesStopAtAnyMoment) {
  const std::vector<double> matrix = symmetric(64, 4);
  stop_at_many_moments([&](const CancelToken& cancel) {
    std::vector<double> copy = matrix, values;
    symmetric_eigen(64, copy.data(), values, cancel);
  });
}

TEST(Dense, SingularVectorsStopAtAnyMoment) {
  const std::vector<double> matrix = symmetric(64, 5);
  stop_at_many_moments([&](const CancelToken& cancel) {
    std::vector<double> values, vectors(matrix.size());
    right_singular_vectors(64, matrix.data(), values, vectors.data(), cancel);
  });
}

TEST(Dense, TrianglesStopAtAnyMoment) {
  const std::vector<double> matrix = symmetric(64, 6);
  stop_at_many_moments([&](const CancelToken& cancel) {
    std::vector<double> copy = matrix, triangle(matrix.size());
    upper_triangle(64, 64, copy.data(), triangle.data(), cancel);
  });
}

}  // namespace
}  // namespace stope::gram
