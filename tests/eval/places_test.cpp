// Errors of folds name the row of the whole table, and its file.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "base/random.hpp"
#include "stope/error.hpp"
#include "stope/eval.hpp"

namespace stope {
namespace {

constexpr std::int64_t kRows = 40, kBad = 23;

// Numbers with one bad cell.
Table table_with(double bad, bool nominal_label) {
  Random random(11);
  std::vector<double> x, y;
  std::vector<std::int32_t> label;
  for (std::int64_t row = 0; row < kRows; ++row) {
    x.push_back(random.uniform());
    y.push_back(row == kBad ? bad : random.uniform());
    label.push_back(static_cast<std::int32_t>(row % 2));
  }
  Table table;
  table.n_rows = kRows;
  table.source = "numbers.csv";
  table.columns = {make_numeric("x", x), make_numeric("y, row 3", y)};
  table.columns.push_back(nominal_label ? make_nominal("label", label, {"a", "b"}) : make_numeric("label", x));
  table.columns[0].role = nominal_label ? Role::regular : Role::ignore;
  table.columns[2].role = Role::label;
  return table;
}

void expect_place(const std::function<void()>& work) {
  try {
    work();
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.row(), kBad) << error.what();
    EXPECT_EQ(error.file(), "numbers.csv");
    EXPECT_NE(error.message().find("row 23"), std::string::npos) << error.what();
  }
}

TEST(PlacesOfEvaluations, AreThoseOfTheWholeTable) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  const Table gap = table_with(kNaN, true), infinite = table_with(kInfinity, true), line = table_with(kNaN, false);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {  // the bad row is now in the first training part, now in the test
    TreeEvaluationOptions tree;
    tree.seed = seed;
    tree.n_folds = 3;
    expect_place([&] { evaluate_tree(gap, tree); });
    tree.fit.prune_holdout = 0.3;
    tree.fit.seed = seed;
    tree.fit.tree.min_samples_leaf = 1;
    expect_place([&] { evaluate_tree(gap, tree); });
    LsqEvaluationOptions lsq;
    lsq.seed = seed;
    expect_place([&] { evaluate_lsq(line, lsq); });
    EvaluateOptions knn;
    knn.seed = seed;
    knn.normalize.method = Normalization::z;
    expect_place([&] { evaluate(infinite, knn); });
  }
}

}  // namespace
}  // namespace stope
