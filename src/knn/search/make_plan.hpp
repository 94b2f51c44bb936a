// Plans a search: how many rows are in flight at once, so that everything fits the memory budget.
#pragma once

#include <cstdint>
#include <limits>

#include "device/backend.hpp"
#include "knn/engine/plan.hpp"
#include "stope/run.hpp"

namespace stope::knn {

/// How much memory a job needs.
struct Demand {
  std::int64_t n_queries = 0;
  std::int64_t n_rows = 0;
  std::int64_t width = 0;           ///< encoded attributes
  std::int64_t list_bytes = 0;      ///< bytes of result and lists per query row
  std::int64_t scratch_bytes = 0;   ///< bytes of work space per thread
  std::int64_t index_bytes = 0;     ///< bytes that the fitted index holds already
  bool resident = true;             ///< whether the index holds the encoded rows
  std::int64_t filter_columns = 0;  ///< columns of the images that a filter makes of rows; 0: no filter can be used
  double seconds = std::numeric_limits<double>::infinity();  ///< the work, as long as one thread takes for it
};

/// Shrinks tiles, then the parts of the training table, until they fit the budget. A filter that does not fit gives way
/// to the reference. Starts no more threads than the work is worth. Throws out_of_memory naming the bytes if one query
/// row and a part of one row do not fit. For tests, STOPE_TILE_QUERIES, STOPE_TILE_ROWS and STOPE_PART_ROWS override
/// the sizes; under the last one, no index holds encoded rows.
Plan make_plan(const Demand& demand, const device::BackendChoice& backend, const Method& method, const RunOptions& run);

}  // namespace stope::knn
