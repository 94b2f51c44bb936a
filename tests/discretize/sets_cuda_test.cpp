// Finds sets of cuts on the GPUs of this machine; skipped where there is none.
#include "device/needs_gpu.hpp"
#include "discretize/set_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace discretize_cases;

/// By MDLP, of up to 256 classes.
class SetsOnGpu : public NeedsGpu {};

TEST_F(SetsOnGpu, ByMdlpAreTheCpus) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 3000, 200, 6, 41), 10000);
}
TEST_F(SetsOnGpu, ByMdlpOfTablesThatABlockOrders) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 1000, 1100, 12, 42), 5000);
}
TEST_F(SetsOnGpu, ByMdlpOfLongTables) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 100, 100000, 6, 43), 1000);
}
TEST_F(SetsOnGpu, ByMdlpInSeveralSessions) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables(sessions(2), 50, 3000, 12, 44), 500);
}
// Columns are long, and their sorts take turns in one memory.
TEST_F(SetsOnGpu, ByMdlpInSeveralPieces) {
  Random random(45);
  for (const std::int32_t n_classes : {2, 5}) {
    EXPECT_GT(expect_the_processors_sets(cut_decisions(random, 300000, 21, n_classes, true), "cuda"), 50);
  }
}
TEST_F(SetsOnGpu, ByMdlpOfWideTables) {
  Random random(46);
  for (const std::int32_t n_classes : {2, 10}) {
    EXPECT_GT(expect_the_processors_sets(cut_decisions(random, 161, 20000, n_classes, true), "cuda"), 10000);
  }
}
// Logarithms of more than 2^20 rows are computed, not looked up.
TEST_F(SetsOnGpu, ByMdlpOfMoreRowsThanATableOfLogarithmsHas) {
  Random random(47);
  EXPECT_GT(expect_the_processors_sets(cut_decisions(random, 1100000, 3, 3, true), "cuda"), 5);
}
// Sorted columns have room for eight cuts each, and a column for 255: the CPU cuts what has more.
TEST_F(SetsOnGpu, ByMdlpWithMoreCutsThanAGpuKeeps) {
  Table steps;
  steps.n_rows = 20000;
  std::vector<std::int32_t> labels(20000);
  std::vector<std::string> classes;
  for (int k = 0; k < 200; ++k) classes.push_back("c" + std::to_string(k));
  for (std::size_t row = 0; row < labels.size(); ++row) labels[row] = static_cast<std::int32_t>(row / 50 % 200);
  for (int c = 0; c < 60; ++c) {  // each of 400 runs of rows has a class of its own, or each of 200
    std::vector<double> x(20000);
    for (std::size_t row = 0; row < x.size(); ++row) x[row] = static_cast<double>(c % 2 == 0 ? row : row % 10000);
    steps.columns.push_back(make_numeric("x" + std::to_string(c), x));
  }
  steps.columns.push_back(make_nominal("y", labels, classes));
  steps.columns.back().role = Role::label;
  EXPECT_EQ(expect_the_processors_sets(steps, "cuda"), 30 * (399 + 199));
}
TEST_F(SetsOnGpu, ByMdlpWithWeightsAreTheCpus) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 1000, 200, 6, 61, kMdlp, true), 2000);
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 100, 20000, 6, 62, kMdlp, true), 500);
  EXPECT_GT(expect_the_processors_sets_of_random_tables(sessions(2), 50, 3000, 12, 63, kMdlp, true), 300);
}
TEST_F(SetsOnGpu, ByMdGlobalAreTheCpus) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 1000, 200, 12, 51, kGlobal), 3000);
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 60, 8192, 12, 52, kGlobal), 300);
  EXPECT_GT(expect_the_processors_sets_of_random_tables(sessions(2), 50, 2000, 12, 53, kGlobal), 200);
}
TEST_F(SetsOnGpu, ByMdGlobalWithWeightsAreTheCpus) {
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 1000, 200, 12, 56, kGlobal, true), 3000);
  EXPECT_GT(expect_the_processors_sets_of_random_tables("cuda", 60, 2048, 12, 57, kGlobal, true), 200);
}
TEST_F(SetsOnGpu, ByMdGlobalOfAsManyRowsAsItTakes) {
  Random random(54);
  for (const std::int64_t n_rows : {std::int64_t{8191}, std::int64_t{8192}}) {
    EXPECT_GT(expect_the_processors_sets(cut_decisions(random, n_rows, 20, 3, true), "cuda", kGlobal), 10);
  }
}
// A block's counters serve eight warps at first, and fewer as blocks become many.
TEST_F(SetsOnGpu, ByMdGlobalOfWideTables) {
  Random random(55);
  for (const std::int32_t n_classes : {2, 10}) {
    const Table noise = random_decisions(random, {161, 20000, 1, n_classes, false, true});
    EXPECT_GT(expect_the_processors_sets(noise, "cuda", kGlobal), 2);
    EXPECT_GT(expect_the_processors_sets(cut_decisions(random, 161, 5000, n_classes, true), "cuda", kGlobal), 1);
  }
}
// Launches every kernel, for a sanitizer.
TEST_F(SetsOnGpu, EveryKernel) {
  Random random(48);
  for (const std::int32_t n_classes : {2, 5}) {
    for (const std::int64_t n_rows : {20, 161, 1000, 1500, 5000}) {
      const Table table = cut_decisions(random, n_rows, 12, n_classes, true);
      expect_the_processors_sets(table, "cuda");
      expect_the_processors_sets(table, "cuda", kGlobal);
      const Table weighted = cut_decisions(random, n_rows, 6, n_classes, true, true);
      expect_the_processors_sets(weighted, "cuda");
      expect_the_processors_sets(weighted, "cuda", kGlobal, n_rows <= 2048);
    }
  }
}

}  // namespace
}  // namespace stope
