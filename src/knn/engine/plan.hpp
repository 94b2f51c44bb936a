// The plan of a search: back end, tile sizes, threads, memory. Everything a plan decides is invisible in the result.
#pragma once

#include <cstdint>
#include <string>

#include "device/backend.hpp"
#include "knn/filter/scan/scan.hpp"
#include "stope/knn.hpp"
#include "stope/run.hpp"

namespace stope::knn {

/// How rows are ordered in blocks: as the table has them (RapidMiner's heap must see them so), or such that near rows
/// share a block.
enum class BlockOrder { table, near };

/// Which way a search goes, and why.
struct Method {
  enum class Way { reference, filter };
  Way way = Way::reference;
  BlockOrder order = BlockOrder::table;
  ScanKind kind = ScanKind::differences;
  std::string reason;
  bool in_parts = false;  ///< a GPU's filter takes the training table part by part
};

struct Plan {
  device::BackendChoice backend;
  Method method;
  std::int64_t tile_queries = 0;  ///< query rows in flight
  std::int64_t tile_rows = 0;     ///< training rows whose distances to them are held at once
  std::int64_t part_rows = 0;     ///< training rows that are encoded, and have images, at once
  std::int64_t memory_budget = 0;
  std::int64_t memory_planned = 0;  ///< bytes of the tiles and lists
  int threads = 0;
};

/// What the job needs per query row beyond its distances.
struct Demand {
  std::int64_t n_queries = 0;
  std::int64_t n_rows = 0;
  std::int64_t width = 0;           ///< encoded attributes
  std::int64_t list_bytes = 0;      ///< bytes of result and lists per query row
  std::int64_t scratch_bytes = 0;   ///< bytes of work space per thread
  std::int64_t index_bytes = 0;     ///< bytes the fitted index holds already
  bool resident = true;             ///< whether it holds the encoded rows
  std::int64_t filter_columns = 0;  ///< of the images a filter makes of rows; 0: no filter can be used
};

/// Shrinks tiles, then the parts of the training table, until they fit the budget; a filter that does not fit gives way
/// to the reference. Throws out_of_memory naming the bytes if one query row and a part of one row do not fit. The
/// environment variables STOPE_TILE_QUERIES, STOPE_TILE_ROWS and STOPE_PART_ROWS override the sizes (for tests; with
/// the last no index holds encoded rows).
Plan make_plan(const Demand& demand, const device::BackendChoice& backend, const Method& method, const RunOptions& run);

/// What of a report the plan knows.
SearchReport report_of(const Plan& plan);

}  // namespace stope::knn
