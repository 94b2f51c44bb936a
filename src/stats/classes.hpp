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
  Buffer<std::int64_t> rows;
  std::vector<std::int64_t> begins;  ///< where every class begins, and where the last one ends
};

Classes rows_by_class(const Column& by, const RunOptions& run);

/// The column of that name. Throws invalid_argument if there is none or it is not nominal.
const Column& class_column(const Table& table, const std::string& name);

/// Whether the classes of rows count the values that they have, and not all values.
bool counts_sparsely(const Column& column, std::size_t n_classes);

/// Throws out_of_memory if the statistics of all classes, and what computes them, exceed the memory limit.
void require_room_for_classes(const Table& table, const Column& by, const StatsOptions& options, const RunOptions& run);

}  // namespace stope::stats
