// Best cuts on GPUs: one test body for real GPUs and for the fake ones. All is compared with the CPU's results.
#pragma once

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "discretize/discretize_cases.hpp"
#include "stope/discretize.hpp"

namespace stope::discretize_cases {

inline BestCuts cuts_on(const Table& table, const std::string& device, std::int64_t n_permutations = 0,
                        Criterion criterion = Criterion::discernibility) {
  BestCutOptions options;
  options.criterion = criterion;
  options.missing = MissingPolicy::value;
  options.n_permutations = n_permutations;
  options.seed = 5;
  options.order = AttributeOrder::column;
  RunOptions run;
  run.device = device;
  run.threads = table.n_rows * std::ssize(table.columns) < 100000 ? 1 : 0;  // threads cost more than small tables
  return best_cuts(table, options, run);
}

/// Expects the CPU's cuts, scores and p-values, bit for bit.
inline void expect_the_processors_cuts(const Table& table, const std::string& device, std::int64_t n_permutations = 0,
                                       Criterion criterion = Criterion::discernibility) {
  const BestCuts want = cuts_on(table, "cpu", n_permutations, criterion),
                 got = cuts_on(table, device, n_permutations, criterion);
  EXPECT_EQ(got.report.backend, "cuda");
  ASSERT_EQ(got.cuts.size(), want.cuts.size());
  for (std::size_t i = 0; i < want.cuts.size(); ++i) {
    ASSERT_EQ(got.cuts[i].score, want.cuts[i].score) << want.cuts[i].name;
    ASSERT_EQ(got.cuts[i].pairs, want.cuts[i].pairs) << want.cuts[i].name;
    ASSERT_EQ(got.cuts[i].cut, want.cuts[i].cut) << want.cuts[i].name;
    ASSERT_EQ(got.cuts[i].value, want.cuts[i].value) << want.cuts[i].name;
    ASSERT_EQ(got.cuts[i].p_value, want.cuts[i].p_value) << want.cuts[i].name;
    ASSERT_EQ(got.cuts[i].q_value, want.cuts[i].q_value) << want.cuts[i].name;
    ASSERT_EQ(got.cuts[i].family_p_value, want.cuts[i].family_p_value) << want.cuts[i].name;
  }
}

/// Draws tables of up to most_rows rows, and up to most_permutations. Numbers of rows around powers of two are more
/// frequent. `gains`: cuts are by Gini or entropy, of up to 256 classes. `weighted`: by any criterion, with weights.
inline void expect_the_processors_cuts_of_random_tables(const std::string& device, int n_tables, std::int64_t most_rows,
                                                        int n_numeric, std::uint64_t seed,
                                                        std::int64_t most_permutations = 0, bool gains = false,
                                                        bool weighted = false) {
  Random random(seed);
  for (int i = 0; i < n_tables; ++i) {
    Shape shape;
    const auto limit = static_cast<std::uint64_t>(most_rows);
    shape.n_rows = 1 + static_cast<std::int64_t>(random.below(1 + random.below(limit)));
    if (random.below(3) == 0) {
      const std::int64_t near = (std::int64_t{1} << random.below(20)) + static_cast<std::int64_t>(random.below(3)) - 1;
      if (near >= 1 && near <= most_rows) shape.n_rows = near;
    }
    shape.n_numeric = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(n_numeric)));
    shape.n_symbolic = static_cast<int>(random.below(3));
    shape.floats = random.below(2) == 0;
    shape.n_classes =
        random.below(2) == 0 ? 2 : 2 + static_cast<std::int32_t>(random.below(gains || weighted ? 255 : 49));
    const bool pairs = !gains && (!weighted || random.below(3) == 0);
    const Criterion criterion = pairs                  ? Criterion::discernibility
                                : random.below(2) == 0 ? Criterion::gini
                                                       : Criterion::entropy;
    Table table = random_decisions(random, shape);
    if (weighted) add_weights(random, table);
    std::int64_t n_permutations = most_permutations;
    if (most_permutations > 0) {
      n_permutations = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_permutations)));
    }
    SCOPED_TRACE("table " + std::to_string(i) + ": " + std::to_string(shape.n_rows) + " rows, " +
                 std::to_string(shape.n_classes) + " classes, " + std::to_string(n_permutations) +
                 " permutations, criterion " + std::to_string(static_cast<int>(criterion)) + ", seed " +
                 std::to_string(seed));
    expect_the_processors_cuts(table, device, n_permutations, criterion);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace stope::discretize_cases
