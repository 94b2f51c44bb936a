// Imputation in tests: what was filled in, kept; a small table.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "stope/impute.hpp"

namespace stope::testing_impute {

inline const double kNaN = std::nan("");

// What was filled in, kept.
struct Kept {
  std::int64_t row = 0;
  std::string column;
  double value = 0.0;
  std::vector<std::int64_t> donors;
  std::vector<double> distances;
};

struct Filled {
  Table table;
  ImputeReport report;
  std::vector<Kept> cells;
};

inline Filled fill(const Imputer& imputer, const Table& table, const RunOptions& run = {}) {
  Filled filled;
  filled.table = imputer.apply(table, run, &filled.report, [&](const FilledCell& cell) {
    filled.cells.push_back({cell.row,
                            cell.column->name,
                            cell.value,
                            {cell.donors.begin(), cell.donors.end()},
                            {cell.distances.begin(), cell.distances.end()}});
  });
  return filled;
}

inline Table small() {
  Table table;
  table.n_rows = 4;
  table.columns = {make_numeric("x", {1, 2, kNaN, 4}), make_nominal("s", {0, 1, 1, kMissingCode}, {"a", "b"}),
                   make_numeric("y", {1, kNaN, 3, 4})};
  return table;
}

}  // namespace stope::testing_impute
