// A job of the public API, and the table that every job takes (fault/every_job.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stope/stope.hpp"

namespace stope::every_job {

using Call = std::function<void()>;

/// What a job reads of the table that it is given.
enum class Reads { table, label, nothing };

/// A job. Everything else that it needs was made from a good table.
struct Job {
  std::string name;
  std::vector<std::string> codes_of;  ///< the nominal columns whose codes it reads
  /// Returns the call of the library for a table. What a caller allocates itself is allocated before the call.
  std::function<Call(const Table&)> call_for;
  Reads reads = Reads::table;

  void run(const Table& table) const { call_for(table)(); }
};

/// Numbers x and z, values c and d, the label y, a group g, weights w; no value is missing.
inline Table good_table() {
  Table table;
  table.n_rows = 12;
  table.columns = {make_numeric("x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
                   make_numeric("z", {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}),
                   make_nominal("c", {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}, {"red", "green", "blue"}),
                   make_nominal("d", {0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0}, {"no", "yes"}, ValueType::binominal),
                   make_nominal("y", {0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1}, {"a", "b"}),
                   make_nominal("g", {0, 0, 1, 1, 2, 2, 3, 3, 0, 1, 2, 3}, {"p", "q", "r", "s"}),
                   make_numeric("w", {1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1})};
  table.columns[4].role = Role::label;
  table.columns[5].role = Role::ignore;
  table.columns[6].role = Role::weight;
  return table;
}

/// The table with its numeric features alone, and x as the label.
inline Table for_regression(const Table& table) {
  Table numbers = table;
  numbers.columns[0].role = Role::label;
  numbers.columns[4].role = Role::ignore;
  return numbers;
}

}  // namespace stope::every_job
