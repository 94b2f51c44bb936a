// How columns are dealt out to threads (discretize/crew.hpp, discretize/stage_columns.hpp).
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "discretize/crew.hpp"
#include "discretize/stage_columns.hpp"
#include "discretize_cases.hpp"

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

// Columns of 280 KB, which end anywhere in what a thread copies at a time.
TEST(ColumnsOnThreads, ColumnsAreCopiedInParts) {
  Random random(3);
  discretize_cases::Shape shape;
  shape.n_rows = 70'001;
  shape.n_numeric = 5;
  shape.n_classes = 2;
  shape.floats = true;
  const DecisionProblem problem = make_problem(discretize_cases::random_decisions(random, shape), MissingPolicy::value);
  const std::vector<std::int64_t> some = {4, 0, 2};  // those of float32
  const auto bytes = static_cast<std::size_t>(bytes_of(problem.attributes[0], problem.n_rows));
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    std::vector<char> to(some.size() * bytes + 1, 'x');
    stage_columns(problem, some, pool, to.data());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& column = std::get<Buffer<float>>(problem.attributes[static_cast<std::size_t>(some[i])].data);
      EXPECT_EQ(std::memcmp(to.data() + i * bytes, column.data(), bytes), 0) << threads << " threads, column " << i;
    }
    EXPECT_EQ(to.back(), 'x');
    stage_columns(problem, {}, pool, nullptr);
  }
}

}  // namespace
}  // namespace stope::discretize
