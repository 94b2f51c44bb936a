// Deals columns out to threads (discretize/crew.hpp, discretize/stage_columns.hpp).
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/staging.hpp"
#include "discretize/crew.hpp"
#include "discretize/discretize_cases.hpp"
#include "discretize/stage_columns.hpp"

namespace stope::discretize {
namespace {

TEST(ColumnsOnThreads, TasksAreOfManyShortColumnsOrOneLongOne) {
  EXPECT_EQ(columns_of_task(0), 64);
  EXPECT_EQ(columns_of_task(161), 64);
  EXPECT_EQ(columns_of_task(300), 48);  // 54, in groups of eight
  EXPECT_EQ(columns_of_task(kNetworkRows), 16);
  EXPECT_EQ(columns_of_task(5'000), 3);
  EXPECT_EQ(columns_of_task(20'000), 1);
  EXPECT_EQ(columns_of_task(std::int64_t{1} << 30), 1);
}

TEST(ColumnsOnThreads, EveryColumnIsOfOneTask) {
  ThreadPool pool(3);
  for (const std::int64_t n_rows : {161, 20'000}) {
    for (const std::int64_t n : {0, 1, 63, 64, 65, 1000}) {
      std::vector<int> times(static_cast<std::size_t>(n));
      for_tasks_of_columns(n, n_rows, pool, {}, [&](std::int64_t begin, std::int64_t end, int worker) {
        EXPECT_TRUE(worker >= 0 && worker < 3);
        for (std::int64_t i = begin; i < end; ++i) ++times[static_cast<std::size_t>(i)];
      });
      EXPECT_EQ(times, std::vector<int>(times.size(), 1)) << n << " columns of " << n_rows;
    }
  }
}

// Columns have 280 KB, and end anywhere in what a thread copies at a time.
TEST(ColumnsOnThreads, ColumnsAreCopiedInParts) {
  Random random(3);
  discretize_cases::Shape shape;
  shape.n_rows = 70'001;
  shape.n_numeric = 5;
  shape.n_classes = 2;
  shape.floats = true;
  const DecisionProblem problem = make_problem(discretize_cases::random_decisions(random, shape), MissingPolicy::value);
  const std::vector<std::int64_t> some = {4, 0, 2};  // the columns of float32
  const auto bytes = static_cast<std::size_t>(bytes_of(problem.forms[0], problem.n_rows));
  for (const int threads : {1, 3}) {
    const auto all = static_cast<std::int64_t>(some.size() * bytes);
    std::vector<char> to(some.size() * bytes + 1, 'x');
    device::Staging staging(
        {.all = all, .piece = all, .task = 100'000}, threads,
        [&](std::int64_t at, std::int64_t n, char* there) { write_columns(problem, some, at, n, there); });
    staging.allow_next(to.data());
    staging.fill();
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& column = std::get<Buffer<float>>(problem.attributes[static_cast<std::size_t>(some[i])].data);
      EXPECT_EQ(std::memcmp(to.data() + i * bytes, column.data(), bytes), 0) << threads << " threads, column " << i;
    }
    EXPECT_EQ(to.back(), 'x');
  }
}

}  // namespace
}  // namespace stope::discretize
