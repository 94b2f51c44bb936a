// What a search did.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace stope {

/// What a search did, for --explain and --json.
struct SearchReport {
  std::string backend;  ///< "reference", "scalar", "avx2", ... (stope/device.hpp)
  std::string reason;   ///< why this one
  std::string
      method;  ///< "reference" or "filter", with ", blocks", ", products", ", bytes", ", votes", ", on the GPU" added
  std::string method_reason;      ///< why this one; may be empty
  std::int64_t tile_queries = 0;  ///< rows of queries and of training data per tile
  std::int64_t tile_rows = 0;
  std::int64_t part_rows = 0;    ///< training rows in memory at once; all, unless the memory budget is short
  std::int64_t pairs = 0;        ///< query rows times training rows
  std::int64_t scanned = 0;      ///< pairs whose images a filter compared
  std::int64_t skipped = 0;      ///< pairs ruled out by the box around a block
  std::int64_t listed = 0;       ///< pairs a filter could not rule out at first
  std::int64_t evaluated = 0;    ///< distances computed with the reference formula
  std::int64_t uncertified = 0;  ///< queries whose neighbours a filter could not prove: answered by the reference
  std::int64_t memory_budget = 0;
  std::int64_t memory_planned = 0;
  int threads = 0;
  double seconds = 0;
  /// What a GPU did, and how long; added up over GPUs. "table ..." is done once for a fitted table, by the first
  /// search.
  std::vector<std::pair<std::string, double>> gpu_seconds = {};
};

}  // namespace stope
