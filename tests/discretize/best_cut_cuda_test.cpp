// Finds the best cut of every attribute on the GPUs of this machine; skipped where there is none.
#include "device/needs_gpu.hpp"
#include "discretize/gpu_cases.hpp"
#include "stope/error.hpp"

namespace stope {
namespace {

using namespace discretize_cases;

class CutsOnGpu : public NeedsGpu {};

/// The parameter seeds the tables: 45,000 in four parts, for several processes.
class ShortCutsOnGpu : public CutsOnGpu, public testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(, ShortCutsOnGpu, testing::Values(11, 12, 13, 14));
TEST_P(ShortCutsOnGpu, AreTheCpus) {
  expect_the_processors_cuts_of_random_tables("cuda", 11250, 60, 6, GetParam());
}
TEST_F(CutsOnGpu, TablesThatAWarpSorts) {
  expect_the_processors_cuts_of_random_tables("cuda", 5000, 1100, 12, 2);
}
TEST_F(CutsOnGpu, LongTables) {
  expect_the_processors_cuts_of_random_tables("cuda", 150, 100000, 6, 3);
}
TEST_F(CutsOnGpu, SeveralSessions) {
  expect_the_processors_cuts_of_random_tables(sessions(2), 50, 3000, 12, 4);
}

// Columns are long, and take turns in one memory.
TEST_F(CutsOnGpu, SeveralPieces) {
  Random random(7);
  expect_the_processors_cuts(random_decisions(random, {300000, 21, 1, 3, false, false}), "cuda");
}

TEST_F(CutsOnGpu, WideTables) {
  Random random(5);
  for (const std::int32_t n_classes : {2, 3, 50}) {
    Shape shape;
    shape.n_rows = n_classes == 50 ? 300 : 161;
    shape.n_numeric = n_classes == 2 ? 100000 : 20000;
    shape.n_classes = n_classes;
    shape.floats = true;
    expect_the_processors_cuts(random_decisions(random, shape), "cuda");
  }
}

// Launches every kernel, for a sanitizer.
TEST_F(CutsOnGpu, EveryKernel) {
  Random random(6);
  for (const std::int32_t n_classes : {2, 5}) {
    for (const std::int64_t n_rows : {20, 50, 100, 250, 500, 1000, 1500, 40000}) {
      Shape shape;
      shape.n_rows = n_rows;
      shape.n_numeric = n_rows > 2000 ? 4 : 24;
      shape.n_classes = n_classes;
      shape.floats = true;
      expect_the_processors_cuts(random_decisions(random, shape), "cuda");
    }
  }
}

// There are 3e9 pairs and more.
TEST_F(CutsOnGpu, PairsBeyond32Bits) {
  constexpr std::int64_t kRows = 200000;
  std::vector<double> x(kRows);
  std::vector<std::int32_t> y(kRows);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i);
    y[i] = i < x.size() / 2 ? 0 : 1;
  }
  Table table;
  table.n_rows = kRows;
  table.columns.push_back(make_numeric("x", x));
  table.columns.push_back(make_nominal("y", y, {"a", "b"}));
  table.columns.back().role = Role::label;
  expect_the_processors_cuts(table, "cuda");
  EXPECT_EQ(cuts_on(table, "cuda").cuts[0].pairs, 10000000000);
}

}  // namespace
}  // namespace stope
