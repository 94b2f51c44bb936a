// The classes of rows that StatsOptions::by asks for: which column, which rows, and whether memory has room for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "stope/run.hpp"
#include "stope/stats.hpp"

namespace stope::stats {

/// Rows of a table, class after class.
struct Classes {
  Buffer<std::int64_t> rows;         ///< of no use before fill_rows()
  std::vector<std::int64_t> begins;  ///< where every class begins, and where the last one ends
  bool filled = false;
};

/// Counts the rows of every class, and allocates the memory for their numbers.
Classes count_classes(const Column& by, const RunOptions& run);

/// Fills in the numbers of the rows, once. Most jobs do not need them (class_pass.hpp).
void fill_rows(const Column& by, Classes& classes);

/// The column of that name. Throws invalid_argument if there is none or it is not nominal.
const Column& class_column(const Table& table, const std::string& name);

/// Whether the classes of rows count the values that they have, and not all values.
bool counts_sparsely(const Column& column, std::size_t n_classes);

/// Throws out_of_memory if the statistics of all classes, and what computes them, exceed the memory limit.
void require_room_for_classes(const Table& table, const Column& by, const StatsOptions& options, const RunOptions& run);

}  // namespace stope::stats
