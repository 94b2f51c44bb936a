// Tests trees on the GPUs of this machine. The tests are skipped if there is none.
#include "device/needs_gpu.hpp"
#include "tree/gpu_cases.hpp"

namespace stope {
namespace {

using namespace testing_trees;

class TreesOnGpu : public NeedsGpu {
 protected:
  static Table table(const Shape& shape, std::uint64_t seed) {
    Random random(seed);
    return random_decisions(random, shape);
  }
};

/// The parameter is the seed of the tables. The four parts try 45,000 tables, and may run in processes of their own.
class ShortTreesOnGpu : public TreesOnGpu, public testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(, ShortTreesOnGpu, testing::Values(11, 12, 13, 14));
TEST_P(ShortTreesOnGpu, AreTheCpus) {
  expect_the_processors_trees_of_random_tables("cuda", 11250, 60, 6, GetParam());
}

TEST_F(TreesOnGpu, TablesThatAWarpSorts) {
  expect_the_processors_trees_of_random_tables("cuda", 5000, 1024, 12, 2);
}

TEST_F(TreesOnGpu, LongTables) {
  expect_the_processors_trees_of_random_tables("cuda", 300, 20000, 6, 3);
}
TEST_F(TreesOnGpu, LongerTables) {
  expect_the_processors_trees_of_random_tables("cuda", 20, 100000, 4, 4);
}
TEST_F(TreesOnGpu, AMillionRows) {
  for (const std::int32_t n_classes : {2, 7}) {
    expect_the_processors_tree(table({1000001, 3, 1, n_classes, false, true}, 8), "cuda", {.max_depth = 12});
  }
}
// With a class of 8 bits, a word has room for 24 bits of a row's number, but not for 25.
TEST_F(TreesOnGpu, RowsAndClassesThatNoWordHasRoomFor) {
  expect_the_processors_tree(table({(1 << 24) + 1, 1, 1, 256, false, true}, 10), "cuda", {.max_depth = 2});
}

// Kernels go through columns in pieces of 1024 rows. Nodes begin where pieces do, and one row to either side.
TEST_F(TreesOnGpu, NodesThatBeginWherePiecesDo) {
  Random random(11);
  for (const std::int64_t cut : {1023, 1024, 1025, 2048, 3072, 8192}) {
    for (const std::int64_t n_rows : {cut + 1024, cut + 1025, 3 * cut}) {
      std::vector<double> order, noise;
      std::vector<std::int32_t> label;
      for (std::int64_t row = 0; row < n_rows; ++row) {
        order.push_back(static_cast<double>((row * 5 + 3) % n_rows));
        noise.push_back(static_cast<double>(random.below(100)));
        label.push_back((order.back() < static_cast<double>(cut)) == (random.below(20) != 0) ? 0 : 1);
      }
      Table table;
      table.columns = {make_numeric("order", order), make_numeric("noise", noise),
                       make_nominal("y", label, {"a", "b"})};
      table.n_rows = n_rows;
      table.columns.back().role = Role::label;
      expect_the_processors_tree(table, "cuda");
    }
  }
}

TEST_F(TreesOnGpu, SeveralSessions) {
  for (const std::int32_t n_classes : {2, 9}) {
    expect_the_processors_tree(table({30000, 7, 3, n_classes, false, true}, 9), sessions(3));
  }
}

// There are as many sessions as attributes, and the attributes have different types.
TEST_F(TreesOnGpu, ASessionForEachAttribute) {
  expect_the_processors_tree(table({2100, 1, 1, 2, false, false}, 12), sessions(2));
  expect_the_processors_tree(table({2100, 3, 2, 3, false, true}, 13), sessions(5));
}

TEST_F(TreesOnGpu, WideTables) {
  for (const std::int32_t n_classes : {2, 3, 50}) {
    Shape shape;
    shape.n_rows = n_classes == 50 ? 300 : 161;
    shape.n_numeric = n_classes == 2 ? 100000 : 20000;
    shape.n_classes = n_classes;
    shape.floats = true;
    expect_the_processors_tree(table(shape, 5), "cuda");
  }
}

// Shared memory does not hold the counts of all nodes of a level at once.
TEST_F(TreesOnGpu, ManyNodesAndClasses) {
  for (const std::int32_t n_classes : {2, 200}) {
    expect_the_processors_tree(table({1024, 3, 2, n_classes, false, true}, 6), "cuda");
  }
}

/// By Gini or entropy, of up to 256 classes.
class GainTreesOnGpu : public TreesOnGpu {};

TEST_F(GainTreesOnGpu, AreTheCpus) {
  expect_the_processors_trees_of_random_tables("cuda", 2000, 60, 6, 31, true);
}
TEST_F(GainTreesOnGpu, OfSomeHundredRows) {
  expect_the_processors_trees_of_random_tables("cuda", 500, 1100, 12, 32, true);
}
TEST_F(GainTreesOnGpu, LongTables) {
  expect_the_processors_trees_of_random_tables("cuda", 100, 20000, 6, 33, true);
}
TEST_F(GainTreesOnGpu, LongerTables) {
  expect_the_processors_trees_of_random_tables("cuda", 10, 100000, 4, 34, true);
}
TEST_F(GainTreesOnGpu, SeveralSessions) {
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    expect_the_processors_tree(table({30000, 7, 3, 9, false, true}, 35), sessions(3), {.criterion = criterion});
    expect_the_processors_tree(table({300, 7, 3, 2, false, true}, 36), sessions(3), {.criterion = criterion});
  }
}
TEST_F(GainTreesOnGpu, WideTables) {
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    expect_the_processors_tree(table({161, 20000, 0, 3, false, true}, 37), "cuda", {.criterion = criterion});
  }
}
// Logarithms of more than 2^20 rows are computed, not looked up.
TEST_F(GainTreesOnGpu, MoreRowsThanATableOfLogarithmsHas) {
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    expect_the_processors_tree(table({1100000, 2, 1, 3, false, true}, 38), "cuda",
                               {.criterion = criterion, .max_depth = 6});
  }
}
TEST_F(GainTreesOnGpu, PassOverGainsThatAreRounding) {
  Random random(39);
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (int i = 0; i < 60; ++i) {
      const auto n_values = static_cast<std::int64_t>(2 + random.below(500));
      const auto n_classes = static_cast<std::int32_t>(2 + random.below(9));
      const Table even = discretize_cases::even_decisions(random, n_values, 4, n_classes);
      expect_the_processors_tree(even, "cuda", {.criterion = criterion, .max_depth = 4});
    }
  }
}
// Launches every kernel, for a sanitizer.
TEST_F(GainTreesOnGpu, EveryKernel) {
  for (const Criterion criterion : {Criterion::gini, Criterion::entropy}) {
    for (const std::int64_t n_rows : {20, 300, 2100, 5000}) {
      expect_the_processors_tree(table({n_rows, 4, 2, 5, false, true}, 40), "cuda", {.criterion = criterion});
    }
  }
}

// Launches every kernel, so that a sanitizer can check it.
TEST_F(TreesOnGpu, EveryKernel) {
  for (const std::int32_t n_classes : {2, 5}) {
    for (const std::int64_t n_rows : {20, 100, 130, 250, 300, 500, 1000, 1024, 2100, 8200}) {
      expect_the_processors_tree(table({n_rows, n_rows > 2000 ? 4 : 24, 2, n_classes, false, true}, 7), "cuda");
    }
  }
}

}  // namespace
}  // namespace stope
