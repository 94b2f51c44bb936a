// A kernel that traps, or writes where no memory is, ends a search with device_lost, and the process lives: under
// "auto" the CPU goes on, and later searches on the CPU are right. Afterwards CUDA refuses the process every call, so
// each case is a process of its own. The kernel is the watched plug-in's (tests/device/watched_plugin.cpp).
// Skipped where there is no GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "environment.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

constexpr int kAsItShould = 0, kWrong = 1, kNothingFailed = 2;
constexpr std::int64_t kLong = 4000, kShort = 400;

Table positive_table(std::int64_t n_rows, std::uint64_t seed) {
  Random random(seed);
  Table table;
  table.n_rows = n_rows;
  for (int column = 0; column < 8; ++column) {
    std::vector<double> values(static_cast<std::size_t>(n_rows));
    for (double& value : values) value = 0.1 + random.uniform();
    table.columns.push_back(make_numeric("x" + std::to_string(column), values));
  }
  return table;
}

bool same(const Neighbors& a, const Neighbors& b) {
  return a.offsets == b.offsets && a.indices == b.indices && a.distances == b.distances;
}

struct Search {
  std::string metric;
  std::int64_t n_rows;
  Table train = positive_table(n_rows, 1), query = positive_table(n_rows, 2);

  Neighbors on(const std::string& device, int threads = 0, SearchReport* report = nullptr) const {
    const RunOptions run{.threads = threads, .device = device};
    Neighbors all;
    const SearchReport told =
        KnnIndex::fit(train, {.metric = {.name = metric}}, run)
            .kneighbors(query, {.n_neighbors = 7}, run, [&all](const Neighbors& block) {
              const std::int64_t before = all.offsets.back();
              for (std::size_t i = 1; i < block.offsets.size(); ++i) {
                all.offsets.push_back(before + block.offsets[i]);
              }
              all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
              all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
            });
    if (report != nullptr) *report = told;
    return all;
  }
};

// What the child process does. Returns one of the constants above, and says on stderr what was wrong.
int outcome_of(const std::string& metric, const std::string& device) {
  // With one thread a long search by the formula takes long enough for "auto" to choose the GPU.
  const Search search{metric, device == "auto" || metric != "kl" ? kLong : kShort};
  const auto wrong = [](const std::string& what) {
    std::fprintf(stderr, "%s\n", what.c_str());
    return kWrong;
  };
  const Neighbors expected = search.on("cpu");
  try {
    SearchReport report;
    const Neighbors found = search.on(device, 1, &report);
    if (!same(found, expected)) return wrong("other lists");
    if (report.device_reason.find("the GPU was given up: the GPU was lost") == std::string::npos) {
      std::fprintf(stderr, "%s: %s\n", report.backend.c_str(), report.device_reason.c_str());
      return kNothingFailed;
    }
    if (device != "auto") return wrong("a GPU that was asked for was given up");
  } catch (const Error& error) {
    if (device == "auto") return wrong(std::string("auto gave up: ") + error.what());
    if (error.code() != ErrorCode::device_lost) return wrong(std::string("no device_lost: ") + error.what());
    if (exit_code(error.code()) != 5) return wrong("the exit code is not 5");
  }
  // CUDA refuses this process from now on, and the CPU is as before.
  try {
    search.on("cuda");
    return wrong("a search on the lost GPU has an answer");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::device_lost) return wrong(std::string("the second time: ") + error.what());
  }
  if (!same(search.on("cpu"), expected)) return wrong("the CPU is wrong afterwards");
  if (!same(search.on("auto"), expected)) return wrong("auto is wrong afterwards");
  return kAsItShould;
}

class FailingKernelCuda : public NeedsGpu {
 protected:
  void SetUp() override {
    NeedsGpu::SetUp();
    if (IsSkipped()) return;
    const char* const plugin = std::getenv("STOPE_CUDA_PLUGIN");
    const auto watched =
        std::filesystem::path(plugin == nullptr ? "" : plugin).replace_filename("libstope_cuda_watched.so");
    if (!std::filesystem::exists(watched)) GTEST_SKIP() << "no " << watched << " beside STOPE_CUDA_PLUGIN";
    setenv("STOPE_CUDA_PLUGIN", watched.c_str(), 1);  // for children
    GTEST_FLAG_SET(death_test_style, "threadsafe");   // they begin anew, since a fork has no CUDA
  }
  void TearDown() override { unsetenv("STOPE_CUDA_FAILING_KERNEL"); }
};

// The child's own count begins with the child.
void fail_before(const std::string& kind, int launch) {
  setenv("STOPE_CUDA_FAILING_KERNEL", (kind + ":" + std::to_string(launch)).c_str(), 1);
}

TEST_F(FailingKernelCuda, EndsASearchWithDeviceLost) {
  for (const char* kind : {"trap", "address"}) {
    for (const char* metric : {"kl", "euclidean", "manhattan"}) {  // the reference and both filters
      SCOPED_TRACE(std::string(kind) + ", " + metric);
      fail_before(kind, 1);
      EXPECT_EXIT(std::exit(outcome_of(metric, "cuda")), testing::ExitedWithCode(kAsItShould), "");
    }
  }
}

TEST_F(FailingKernelCuda, LetsTheCpuGoOnUnderAuto) {
  for (const char* kind : {"trap", "address"}) {
    SCOPED_TRACE(kind);
    fail_before(kind, 1);
    EXPECT_EXIT(std::exit(outcome_of("kl", "auto")), testing::ExitedWithCode(kAsItShould), "");
  }
}

// Wherever in a search of four blocks the kernel stands, up to the first number that the search does not reach. A child
// comes here by the same way as this process, so a test has one such loop.
void expect_an_end_at_every_launch(const std::string& device) {
  const bool is_long = device == "auto";
  const ForcedVariable blocks("STOPE_TILE_QUERIES", std::to_string((is_long ? kLong : kShort) / 4));
  int code = kAsItShould, n_failed = 0;
  const auto ended = [&code](int status) {
    code = WIFEXITED(status) ? WEXITSTATUS(status) : kWrong;
    return code == kAsItShould || code == kNothingFailed;
  };
  for (int launch = 1; code == kAsItShould && launch < 200; launch += 1 + (is_long ? launch : launch / 4)) {
    SCOPED_TRACE(device + ", launch " + std::to_string(launch));
    fail_before("trap", launch);
    EXPECT_EXIT(std::exit(outcome_of("kl", device)), ended, "");
    n_failed += code == kAsItShould ? 1 : 0;
  }
  EXPECT_EQ(code, kNothingFailed);
  EXPECT_GE(n_failed, 2);
}

TEST_F(FailingKernelCuda, EndsASearchAtEveryLaunch) {
  expect_an_end_at_every_launch("cuda");
}

TEST_F(FailingKernelCuda, LetsTheCpuGoOnAtEveryLaunch) {
  expect_an_end_at_every_launch("auto");
}

}  // namespace
}  // namespace stope
