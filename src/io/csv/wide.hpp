// Tables of few long records, read by tiles (io/csv/tiles.hpp): one pass over each column makes it final.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.hpp"
#include "io/csv/column_parser.hpp"
#include "io/csv/segments.hpp"
#include "stope/io.hpp"
#include "stope/table.hpp"

namespace stope::io::csv {

/// Whether a table is read by tiles: it has more columns than records, and so many columns that the values of one
/// record fill no line of memory before the caches have lost it.
bool suits_tiles(std::int64_t n_rows, std::int64_t n_columns);

/// What a wide table is read from, and what is filled in.
struct WideJob {
  const Text& text;
  const Layout& layout;
  const std::vector<Segment>& segments;
  const Kernels& kernels;
  const RunOptions& run;
  NominalOrder order = NominalOrder::sorted;
  std::int64_t budget = 0;      ///< bytes that the values may take
  std::int64_t tile_width = 0;  ///< columns; 0: as many as suit the caches
  ThreadPool& pool;
  Plan& plan;    ///< the columns' readings become those that fit
  Table& table;  ///< has its columns and n_rows; their names, types and values are filled in
  OddFields& odd;
};

/// False if a segment is not as it was guessed, or if a column has a bad value: then `bad` is the first one of those
/// that the fewest readings had been tried for.
bool read_wide(const WideJob& job, BadValue& bad);

}  // namespace stope::io::csv
