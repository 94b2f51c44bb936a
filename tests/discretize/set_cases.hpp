// Sets of cuts on GPUs: one test body for real GPUs and for the fake ones. All is compared with the CPU's results.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "discretize/cut_methods.hpp"
#include "discretize/discretize_cases.hpp"

namespace stope::discretize_cases {

inline constexpr DiscretizeOptions kMdlp{.method = DiscretizeMethod::mdlp, .missing = MissingPolicy::value};
inline constexpr DiscretizeOptions kGlobal{.method = DiscretizeMethod::md_global, .missing = MissingPolicy::value};

inline CutSet set_on(const Table& table, const std::string& device, BackendReport& report,
                     const DiscretizeOptions& options) {
  RunOptions run;
  run.device = device;
  run.threads = table.n_rows * std::ssize(table.columns) < 100000 ? 1 : 0;  // threads cost more than small tables
  return discretize::cuts_without_tree(table, options, run, report);
}

inline void expect_same_sets(const CutSet& got, const CutSet& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].name, want[i].name);
    ASSERT_EQ(got[i].symbolic, want[i].symbolic);
    ASSERT_EQ(got[i].numbers, want[i].numbers) << want[i].name;
    ASSERT_EQ(got[i].values, want[i].values) << want[i].name;
  }
}

/// Expects the CPU's cuts, bit for bit. Returns how many they are.
inline std::int64_t expect_the_processors_sets(const Table& table, const std::string& device,
                                               const DiscretizeOptions& options = {.method = DiscretizeMethod::mdlp,
                                                                                   .missing = MissingPolicy::value},
                                               bool on_gpu = true) {
  BackendReport on_cpu, on_device;
  const CutSet want = set_on(table, "cpu", on_cpu, options), got = set_on(table, device, on_device, options);
  EXPECT_EQ(on_cpu.backend, "scalar");
  EXPECT_EQ(on_device.backend, on_gpu ? "cuda" : "scalar") << on_device.reason;
  expect_same_sets(got, want);
  std::int64_t n = 0;
  for (const AttributeCuts& one : want) n += one.size();
  return n;
}

/// Makes a table whose numeric columns have cuts that pay: the class follows the interval that a value lies in, but for
/// some of the rows. One column in four is noise, and one in five has missing values.
inline Table cut_decisions(Random& random, std::int64_t n_rows, int n_numeric, std::int32_t n_classes, bool floats,
                           bool weighted = false) {
  Table table;
  table.n_rows = n_rows;
  const auto n = static_cast<std::size_t>(n_rows);
  std::vector<std::int32_t> labels(n);
  for (std::int32_t& k : labels) k = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n_classes)));
  for (int c = 0; c < n_numeric; ++c) {
    const std::uint64_t n_intervals = 1 + random.below(12), n_values = 2 + random.below(3 * n);
    std::vector<double> numbers(n);
    for (std::size_t row = 0; row < n; ++row) {
      // An interval of the row's class: one of those that leave its number when divided by the number of classes.
      const std::uint64_t interval =
          random.below(n_intervals) * static_cast<std::uint64_t>(n_classes) + static_cast<std::uint64_t>(labels[row]);
      const bool follows = c % 4 != 3 && random.below(10) != 0;
      const double within = static_cast<double>(random.below(n_values)) / static_cast<double>(n_values);
      numbers[row] = follows ? static_cast<double>(interval) + within
                             : within * static_cast<double>(n_intervals) * static_cast<double>(n_classes);
      if (c % 5 == 4 && random.below(6) == 0) numbers[row] = std::nan("");
    }
    table.columns.push_back(make_numeric("x" + std::to_string(c), numbers));
    if (!floats || c % 3 == 0) continue;
    Buffer<float> narrow(n_rows);
    for (std::size_t i = 0; i < n; ++i) narrow[static_cast<std::int64_t>(i)] = static_cast<float>(numbers[i]);
    table.columns.back().data = narrow;
  }
  std::vector<std::string> classes;
  for (std::int32_t k = 0; k < n_classes; ++k) classes.push_back("c" + std::to_string(k));
  table.columns.push_back(make_nominal("y", labels, classes));
  table.columns.back().role = Role::label;
  if (weighted) add_weights(random, table);
  return table;
}

/// Whether rows above weight 0 have several classes.
inline bool has_classes(const Table& table) {
  const Column& label = table.columns[static_cast<std::size_t>(table.find(Role::label))];
  const std::int64_t weight = table.find(Role::weight);
  std::int32_t first = -1;
  for (std::int64_t row = 0; row < table.n_rows; ++row) {
    if (weight >= 0 && table.columns[static_cast<std::size_t>(weight)].at(row) == 0.0) continue;
    if (first >= 0 && label.codes()[row] != first) return true;
    first = label.codes()[row];
  }
  return false;
}

/// Draws tables with cuts that pay, and tables of odd columns. Returns how many cuts they have.
inline std::int64_t expect_the_processors_sets_of_random_tables(const std::string& device, int n_tables,
                                                                std::int64_t most_rows, int n_numeric,
                                                                std::uint64_t seed,
                                                                const DiscretizeOptions& options = kMdlp,
                                                                bool weighted = false) {
  Random random(seed);
  std::int64_t n_cuts = 0;
  for (int i = 0; i < n_tables && !testing::Test::HasFailure(); ++i) {
    std::int64_t n_rows =
        1 + static_cast<std::int64_t>(random.below(1 + random.below(static_cast<std::uint64_t>(most_rows))));
    if (random.below(3) == 0) {
      const std::int64_t near = (std::int64_t{1} << random.below(20)) + static_cast<std::int64_t>(random.below(3)) - 1;
      if (near >= 1 && near <= most_rows) n_rows = near;
    }
    const std::int32_t n_classes =
        random.below(2) == 0 ? 2 : 2 + static_cast<std::int32_t>(random.below(1 + random.below(255)));
    const int n_columns = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(n_numeric)));
    const bool floats = random.below(2) == 0;
    SCOPED_TRACE("table " + std::to_string(i) + ": " + std::to_string(n_rows) + " rows, " + std::to_string(n_classes) +
                 " classes, seed " + std::to_string(seed));
    Table table = random.below(4) == 0 ? random_decisions(random, {n_rows, n_columns, 2, n_classes, false, floats})
                                       : cut_decisions(random, n_rows, n_columns, n_classes, floats);
    if (weighted) add_weights(random, table);
    n_cuts += expect_the_processors_sets(table, device, options, has_classes(table));
  }
  return n_cuts;
}

}  // namespace stope::discretize_cases
