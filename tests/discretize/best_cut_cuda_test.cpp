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

// By Gini or entropy, of up to 256 classes.
class GainsOnGpu : public NeedsGpu {};

TEST_F(GainsOnGpu, AreTheCpus) {
  expect_the_processors_cuts_of_random_tables("cuda", 8000, 60, 6, 31, 0, true);
}
TEST_F(GainsOnGpu, TablesThatAWarpSorts) {
  expect_the_processors_cuts_of_random_tables("cuda", 2000, 1100, 12, 32, 0, true);
}
TEST_F(GainsOnGpu, LongTables) {
  expect_the_processors_cuts_of_random_tables("cuda", 150, 100000, 6, 33, 0, true);
}
TEST_F(GainsOnGpu, SeveralSessions) {
  expect_the_processors_cuts_of_random_tables(sessions(2), 50, 3000, 12, 34, 0, true);
}
TEST_F(GainsOnGpu, WideTables) {
  Random random(35);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (const std::int32_t n_classes : {2, 10}) {
      expect_the_processors_cuts(random_decisions(random, {161, 20000, 1, n_classes, false, true}), "cuda", 0,
                                 criterion);
    }
  }
}
// Logarithms of more than 2^20 rows are computed, not looked up.
TEST_F(GainsOnGpu, MoreRowsThanATableOfLogarithmsHas) {
  Random random(36);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    expect_the_processors_cuts(random_decisions(random, {1100000, 3, 0, 3, false, true}), "cuda", 0, criterion);
  }
}
TEST_F(GainsOnGpu, GainsThatAreRoundingAreNone) {
  Random random(37);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (int i = 0; i < 200; ++i) {
      const auto n_values = static_cast<std::int64_t>(2 + random.below(500));
      const auto n_classes = static_cast<std::int32_t>(2 + random.below(9));
      expect_the_processors_cuts(even_decisions(random, n_values, 4, n_classes), "cuda", 0, criterion);
    }
  }
}
// Launches every kernel, for a sanitizer.
TEST_F(GainsOnGpu, EveryKernel) {
  Random random(38);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (const std::int64_t n_rows : {20, 50, 100, 250, 500, 1000, 1500, 5000}) {
      const auto n_classes = static_cast<std::int32_t>(criterion == Criterion::gini ? 2 : 5);
      expect_the_processors_cuts(random_decisions(random, {n_rows, 24, 0, n_classes, false, true}), "cuda", 0,
                                 criterion);
    }
  }
}

// With weights, by any criterion.
class WeightedCutsOnGpu : public NeedsGpu {};

TEST_F(WeightedCutsOnGpu, AreTheCpus) {
  expect_the_processors_cuts_of_random_tables("cuda", 6000, 60, 6, 71, 0, false, true);
}
TEST_F(WeightedCutsOnGpu, TablesThatABlockOrders) {
  expect_the_processors_cuts_of_random_tables("cuda", 1000, 1100, 12, 72, 0, false, true);
}
TEST_F(WeightedCutsOnGpu, LongTables) {
  expect_the_processors_cuts_of_random_tables("cuda", 100, 60000, 6, 73, 0, false, true);
}
TEST_F(WeightedCutsOnGpu, SeveralSessions) {
  expect_the_processors_cuts_of_random_tables(sessions(2), 50, 3000, 12, 74, 0, false, true);
}
TEST_F(WeightedCutsOnGpu, WideTables) {
  Random random(75);
  for (const Criterion criterion : {Criterion::discernibility, Criterion::gini, Criterion::entropy}) {
    expect_the_processors_cuts(random_decisions(random, {161, 20000, 1, 3, true, true}), "cuda", 0, criterion);
  }
}
// Launches every kernel, for a sanitizer.
TEST_F(WeightedCutsOnGpu, EveryKernel) {
  Random random(76);
  for (const Criterion criterion : {Criterion::discernibility, Criterion::gini, Criterion::entropy}) {
    for (const std::int64_t n_rows : {50, 1500}) {
      expect_the_processors_cuts(random_decisions(random, {n_rows, 12, 0, 5, true, true}), "cuda", 0, criterion);
    }
  }
}

class PermutationsOnGpu : public NeedsGpu {};

TEST_F(PermutationsOnGpu, AreTheCpus) {
  expect_the_processors_cuts_of_random_tables("cuda", 2000, 60, 6, 21, 300);
}
TEST_F(PermutationsOnGpu, TablesThatAWarpSorts) {
  expect_the_processors_cuts_of_random_tables("cuda", 300, 1100, 12, 22, 600);
}
TEST_F(PermutationsOnGpu, LongTables) {
  expect_the_processors_cuts_of_random_tables("cuda", 40, 20000, 6, 23, 70);
}
TEST_F(PermutationsOnGpu, SeveralSessions) {
  expect_the_processors_cuts_of_random_tables(sessions(2), 50, 1500, 12, 24, 300);
}
// Columns come in several pieces, which take turns.
TEST_F(PermutationsOnGpu, WideTables) {
  Random random(25);
  for (const std::int32_t n_classes : {2, 3}) {
    expect_the_processors_cuts(random_decisions(random, {161, 20000, 1, n_classes, false, true}), "cuda", 130);
  }
}
// Beyond 16 classes the CPU scores one permutation after the other; with 200, a block is one warp.
TEST_F(PermutationsOnGpu, ManyClasses) {
  Random random(26);
  for (const std::int32_t n_classes : {17, 200}) {
    expect_the_processors_cuts(random_decisions(random, {700, 20, 0, n_classes, false, true}), "cuda", 40);
  }
}
TEST_F(PermutationsOnGpu, AsManyRowsAsTheyTake) {
  Random random(27);
  for (const std::int32_t n_classes : {2, 40}) {
    expect_the_processors_cuts(random_decisions(random, {65535, 3, 0, n_classes, false, true}), "cuda", 20);
  }
}
TEST_F(PermutationsOnGpu, SeveralRounds) {
  Random random(28);
  expect_the_processors_cuts(random_decisions(random, {60000, 2, 0, 2, false, true}), "cuda", 1200);
}
// Launches every kernel, for a sanitizer.
TEST_F(PermutationsOnGpu, EveryKernel) {
  Random random(29);
  for (const std::int32_t n_classes : {2, 5}) {
    for (const std::int64_t n_rows : {50, 1500}) {
      expect_the_processors_cuts(random_decisions(random, {n_rows, 12, 0, n_classes, false, true}), "cuda", 140);
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
