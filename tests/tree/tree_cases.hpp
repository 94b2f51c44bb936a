// Random tables for trees: ties, constants, missing values, infinities, both zeros, adjacent doubles, symbols, weights.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "oracle/tree_oracle.hpp"
#include "stope/table.hpp"

namespace stope::testing_trees {

inline std::vector<double> random_numbers(Random& random, std::size_t n, bool missing) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> x;
  const auto kind = random.below(7);
  for (std::size_t i = 0; i < n; ++i) {
    double value = 0.0;
    switch (kind) {
      case 0: value = static_cast<double>(random.below(4)); break;
      case 1: value = random.uniform(); break;
      case 2: value = 7.0; break;
      case 3: value = random.below(2) == 0 ? 0.0 : -0.0; break;
      case 4: value = 1.0 + static_cast<double>(random.below(5)) * 0x1p-52; break;
      case 5:
        value = random.below(3) == 0 ? inf : random.below(2) == 0 ? -inf : static_cast<double>(random.below(3));
        break;
      default: value = (random.below(2) == 0 ? -1 : 1) * std::ldexp(1.0 + random.uniform(), 1023); break;
    }
    if (missing && random.below(4) == 0) value = std::numeric_limits<double>::quiet_NaN();
    x.push_back(value);
  }
  return x;
}

/// Makes a random problem in the oracle's form.
inline oracle::TreeCase random_case(Random& random, std::size_t most_rows, std::size_t most_columns) {
  oracle::TreeCase c;
  const std::size_t n = 1 + random.below(most_rows);
  const std::size_t n_columns = 1 + random.below(most_columns);
  c.n_classes = 1 + static_cast<int>(random.below(random.below(4) == 0 ? 50 : 4));
  const bool missing = random.below(2) == 0, weighted = random.below(3) == 0;
  for (std::size_t a = 0; a < n_columns; ++a) {
    c.symbolic.push_back(random.below(3) == 0);
    if (!c.symbolic.back()) {
      c.columns.push_back(random_numbers(random, n, missing));
      continue;
    }
    const std::uint64_t n_values = 1 + random.below(5);
    std::vector<double> codes;
    for (std::size_t i = 0; i < n; ++i) codes.push_back(static_cast<double>(random.below(n_values)));
    c.columns.push_back(codes);
  }
  for (std::size_t i = 0; i < n; ++i) {
    c.classes.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(c.n_classes))));
    c.weights.push_back(weighted ? static_cast<double>(1 + random.below(20)) / 8 : 1.0);
  }
  if (random.below(4) == 0) c.max_depth = static_cast<int>(random.below(4));
  if (random.below(4) == 0) c.least = 1 + static_cast<int>(random.below(4));
  if (random.below(6) == 0) c.min_score = static_cast<double>(random.below(12));
  return c;
}

/// Returns the case as a table; the code after the last named value is a missing one. `single`: numbers as float32; the
/// case's numbers must then be floats as well.
inline Table table_of(const oracle::TreeCase& c) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(c.classes.size());
  for (std::size_t a = 0; a < c.columns.size(); ++a) {
    const std::string name = "a" + std::to_string(a);
    if (!c.symbolic[a]) {
      table.columns.push_back(make_numeric(name, c.columns[a]));
      continue;
    }
    std::vector<std::int32_t> codes;
    for (const double code : c.columns[a]) codes.push_back(static_cast<std::int32_t>(code));
    table.columns.push_back(make_nominal(name, codes, {"v0", "v1", "v2", "v3", "v4"}));
  }
  std::vector<std::int32_t> classes(c.classes.begin(), c.classes.end());
  std::vector<std::string> names;
  for (int k = 0; k < c.n_classes; ++k) names.push_back("class " + std::to_string(k));
  table.columns.push_back(make_nominal("y", classes, names));
  table.columns.back().role = Role::label;
  table.columns.push_back(make_numeric("w", c.weights));
  table.columns.back().role = Role::weight;
  return table;
}

inline bool unweighted(const oracle::TreeCase& c) {
  for (const double weight : c.weights) {
    if (weight != 1.0) return false;
  }
  return true;
}

}  // namespace stope::testing_trees
