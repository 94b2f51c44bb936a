// A process forked from one whose index has tables on GPUs: no copy of them reaches the plug-in, and the CPU works.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>

#include "base/random.hpp"
#include "device/with_fake_plugin.hpp"
#include "forking.hpp"
#include "oracle/random_table.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

class Fork : public testing::TestWithParam<const char*>, protected WithFakePlugin {
 protected:
  Fork() : WithFakePlugin(GetParam()) {}
  static RunOptions on(const char* device) {
    RunOptions run;
    run.device = device;
    run.threads = 2;
    return run;
  }
  /// Whether `check` returned true in a child that ended by itself.
  static bool holds_in_child(const std::function<bool()>& check) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      bool held = false;
      try {
        held = check();
      } catch (...) {
      }
      _exit(held ? 0 : 1);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
};
INSTANTIATE_TEST_SUITE_P(Roles, Fork, testing::Values("works", "filters", "differences"));

TEST_P(Fork, AChildSearchesOnTheCpuAndForgetsWhatIsOnTheGpu) {
  if (const std::string why = why_no_fork(); !why.empty()) GTEST_SKIP() << why;
  Random random(3);
  const Table train = oracle::random_table(random, {.n_rows = 500, .n_numeric = 6});
  const Table queries = oracle::random_table(random, {.n_rows = 40, .n_numeric = 6});
  std::optional<KnnIndex> index = KnnIndex::fit(train, {}, on("cpu"));
  const SearchOptions search{.n_neighbors = 3};
  const Neighbors expected = index->kneighbors(queries, search, on("cpu"));
  const Neighbors on_gpu = index->kneighbors(queries, search, on("cuda:1"));
  ASSERT_EQ(on_gpu.indices, expected.indices);
  EXPECT_TRUE(holds_in_child([&] {
    try {
      (void)index->kneighbors(queries, search, on("cuda:1"));
      return false;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device_unavailable) return false;
    }
    const bool same = index->kneighbors(queries, search, on("cpu")).distances == expected.distances &&
                      index->kneighbors(queries, search, on("auto")).distances == expected.distances;
    index.reset();  // with the tables, the pinned memory and the threads of the GPU's filter
    return same;
  }));
  EXPECT_EQ(index->kneighbors(queries, search, on("cuda:1")).indices, expected.indices) << "the parent goes on";
}

}  // namespace
}  // namespace stope
