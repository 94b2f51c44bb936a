// Twenty repetitions must give one hash of the answer: nothing on a GPU may depend on which block or warp came first.
// Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <future>
#include <set>
#include <string>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "knn/gpu/hash_of_lists.hpp"
#include "oracle/random_table.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

constexpr int kRepetitions = 20;

class RepeatCuda : public NeedsGpu {
 protected:
  // Half of the repetitions have an index of their own, so that images are made again, too. The last ones run two at
  // once in one index.
  static void expect_one_hash(const std::string& metric, const TableShape& shape, std::int64_t n_queries,
                              std::int64_t k) {
    const std::string what = metric + ", " + std::to_string(shape.n_rows) + " rows of " +
                             std::to_string(shape.n_numeric + shape.n_nominal) + " columns, " +
                             std::to_string(n_queries) + " queries, k " + std::to_string(k);
    SCOPED_TRACE(what);
    Random random(17);
    const Table train = oracle::random_table(random, shape);
    TableShape few = shape;
    few.n_rows = n_queries;
    const Table query = oracle::random_table(random, few);
    const KnnOptions options{.metric = {.name = metric}};
    const SearchOptions search{.n_neighbors = k};
    RunOptions run;
    run.device = "cuda";
    const KnnIndex kept = KnnIndex::fit(train, options, run);
    std::set<std::uint64_t> hashes;
    for (int i = 0; i < kRepetitions - 4; ++i) {
      const KnnIndex index = i % 2 == 0 ? kept : KnnIndex::fit(train, options, run);
      hashes.insert(hash_of(index.kneighbors(query, search, run)));
    }
    for (int i = 0; i < 2; ++i) {
      auto other = std::async(std::launch::async, [&] { return hash_of(kept.kneighbors(query, search, run)); });
      hashes.insert(hash_of(kept.kneighbors(query, search, run)));
      hashes.insert(other.get());
    }
    run.device = "cpu";
    hashes.insert(hash_of(kept.kneighbors(query, search, run)));
    EXPECT_EQ(hashes.size(), 1U);
    print_hash(*hashes.begin(), what + ": " + std::to_string(hashes.size()) + " hash of " +
                                    std::to_string(kRepetitions) + " repetitions on a GPU and one on the CPU");
  }
};

TEST_F(RepeatCuda, NumbersManyOfThemAlike) {
  const TableShape ties{.n_rows = 20000, .n_numeric = 12, .values = TableShape::Values::few};
  const TableShape plain{.n_rows = 20000, .n_numeric = 50};
  expect_one_hash("euclidean", ties, 700, 10);
  expect_one_hash("euclidean", plain, 700, 100);
  expect_one_hash("euclidean", plain, 3, 10);
  expect_one_hash("manhattan", ties, 700, 10);
  expect_one_hash("chebyshev", plain, 300, 10);
}

TEST_F(RepeatCuda, MixedTablesWithMissingValues) {
  const TableShape mixed{
      .n_rows = 20000, .n_numeric = 5, .n_nominal = 5, .missing = 0.05, .values = TableShape::Values::few};
  expect_one_hash("mixed-euclidean", mixed, 500, 10);
  expect_one_hash("gower", mixed, 500, 10);
  expect_one_hash("heom", mixed, 300, 10);
}

}  // namespace
}  // namespace stope
