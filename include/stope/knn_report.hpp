// The report of a search (stope/knn.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "stope/backend_report.hpp"

#pragma GCC visibility push(default)
namespace stope {

/// What a search did, for --explain and --json.
struct SearchReport : BackendReport {
  /// "reference" or "filter", followed by ", blocks" (near rows share a block), ", boxes" (each query finds its own
  /// blocks), ", products", ", bytes", ", votes", ", on the GPU".
  std::string method;
  std::string method_reason;      ///< why this one; may be empty
  std::int64_t tile_queries = 0;  ///< queries and training rows per tile
  std::int64_t tile_rows = 0;
  std::int64_t part_rows = 0;    ///< training rows in memory at once; all of them if the memory budget allows
  std::int64_t pairs = 0;        ///< query rows times training rows
  std::int64_t scanned = 0;      ///< pairs whose images a filter compared
  std::int64_t skipped = 0;      ///< pairs ruled out by the box around a block
  std::int64_t listed = 0;       ///< pairs a filter could not rule out at first
  std::int64_t evaluated = 0;    ///< distances computed with the reference formula
  std::int64_t opened = 0;       ///< groups of boxes around near rows that a filter compared with a query or a tile
  std::int64_t uncertified = 0;  ///< queries whose answer a filter could not prove: the reference answered them
  std::int64_t memory_budget = 0;
  std::int64_t memory_planned = 0;
  /// The steps of GPUs and their seconds, added up over GPUs. The first search of a fitted table does the steps "table
  /// ...", once for all searches.
  std::vector<std::pair<std::string, double>> gpu_seconds = {};
};

/// The report as one JSON object, as --json prints it, and as lines for people, as --explain does.
std::string to_json(const SearchReport& report);
std::string to_text(const SearchReport& report);

}  // namespace stope
#pragma GCC visibility pop
