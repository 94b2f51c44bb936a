// What a search over few columns costs on the CPU with an order of near rows and without one
// (docs/adr/0054-remembered-scans.md). Estimates decide how a search goes, and change no result.
#pragma once

#include <cstdint>

#include "device/backend.hpp"

namespace stope::knn {

/// Where rows are moved into their order (filter/moved_rows.hpp).
inline constexpr std::int64_t kMostColumnsForOrderCost = 8;

/// Seconds of one thread.
struct OrderCost {
  double scan;     ///< the search without an order
  double order;    ///< to make the order, its boxes and its blocks
  double through;  ///< the search through the boxes
};

/// `has_images`: the table has images in its own order, which a scan of several queries needs.
OrderCost order_cost(std::int64_t n_rows, std::int64_t n_columns, std::int64_t n_queries, bool has_images,
                     device::Backend backend);

}  // namespace stope::knn
