// Every tiling with every number of threads on one, two and four GPUs gives the lists of the reference. A machine with
// fewer GPUs opens several sessions on one. Skipped where there is no GPU. The same on CPUs:
// tests/knn/search/grid_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "environment.hpp"
#include "knn/gpu/hash_of_lists.hpp"
#include "oracle/random_table.hpp"
#include "stope/device.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

class GridCuda : public NeedsGpu {
 protected:
  static std::int64_t n_gpus() {
    const std::vector<GpuInfo> gpus = device_info().gpus;
    return std::count_if(gpus.begin(), gpus.end(), [](const GpuInfo& gpu) { return gpu.available; });
  }

  // Searches once for each of 12 tilings and 5 numbers of threads.
  static void expect_one_hash(const std::string& metric, const TableShape& shape, std::int64_t n_queries) {
    Random random(22);
    const Table train = oracle::random_table(random, shape);
    TableShape few = shape;
    few.n_rows = n_queries;
    const Table query = oracle::random_table(random, few);
    const auto search = [&](const std::string& device, int threads) {
      const RunOptions run{.threads = threads, .device = device};
      return hash_of(
          KnnIndex::fit(train, {.metric = {.name = metric}}, run).kneighbors(query, {.n_neighbors = 17}, run));
    };
    std::uint64_t expected = 0;
    {
      const ForcedBackend reference("reference");
      expected = search("cpu", 1);
    }
    for (const int n_sessions : {1, 2, 4}) {
      std::set<std::uint64_t> hashes;
      int n_searches = 0;
      for (const char* tile_queries : {"1", "7", "64"}) {
        for (const char* tile_rows : {"33", "1000"}) {
          for (const std::int64_t part : {0, 101}) {
            for (const int threads : {1, 2, 3, 4, 8}) {
              const ForcedVariable queries("STOPE_TILE_QUERIES", tile_queries), rows("STOPE_TILE_ROWS", tile_rows);
              const PartRows parts(part);
              const std::uint64_t hash = search(sessions(n_sessions), threads);
              EXPECT_EQ(hash, expected) << metric << ", " << sessions(n_sessions) << ", tiles of " << tile_queries
                                        << " x " << tile_rows << ", parts of " << part << ", " << threads << " threads";
              hashes.insert(hash);
              ++n_searches;
            }
          }
        }
      }
      print_hash(*hashes.begin(), metric + ", " + sessions(n_sessions) + " (" +
                                      std::to_string(std::min<std::int64_t>(n_sessions, n_gpus())) +
                                      " GPUs): " + std::to_string(hashes.size()) + " hash of " +
                                      std::to_string(n_searches) + " searches");
    }
  }
};

TEST_F(GridCuda, TwelveTilingsAndFiveNumbersOfThreadsGiveOneAnswerOnEveryNumberOfGpus) {
  const TableShape mixed{
      .n_rows = 400, .n_numeric = 5, .n_nominal = 1, .missing = 0.05, .values = TableShape::Values::few};
  expect_one_hash("mixed-euclidean", mixed, 150);
  expect_one_hash("gower", mixed, 150);
  expect_one_hash("euclidean", {.n_rows = 3000, .n_numeric = 40}, 150);
}

}  // namespace
}  // namespace stope
