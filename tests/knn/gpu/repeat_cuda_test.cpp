// Twenty repetitions must give one hash of the answer: nothing on a GPU may depend on which block or warp came first.
// Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <future>
#include <set>
#include <string>

#include "base/random.hpp"
#include "device/needs_gpu.hpp"
#include "oracle/random_table.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

using oracle::TableShape;

constexpr int kRepetitions = 20;

// Returns FNV-1a over the bits of an answer.
std::uint64_t hash_of(const Neighbors& neighbors) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&hash](std::uint64_t value) {
    for (int byte = 0; byte < 8; ++byte, value >>= 8) hash = (hash ^ (value & 0xff)) * 0x100000001b3ULL;
  };
  for (const std::int64_t offset : neighbors.offsets) add(static_cast<std::uint64_t>(offset));
  for (const std::int64_t row : neighbors.indices) add(static_cast<std::uint64_t>(row));
  for (const double distance : neighbors.distances) add(std::bit_cast<std::uint64_t>(distance));
  return hash;
}

class RepeatCuda : public NeedsGpu {
 protected:
  // Half of the repetitions have an index of their own, so that images are made again, too. The last ones run two at
  // once in one index.
  static void expect_one_hash(const std::string& metric, const TableShape& shape, std::int64_t n_queries,
                              std::int64_t k) {
    SCOPED_TRACE(metric + ", " + std::to_string(shape.n_rows) + " rows, k " + std::to_string(k));
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
