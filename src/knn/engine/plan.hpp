// The plan of a search: the engine, its back end, tile sizes, threads and memory. No decision of a plan shows in the
// result. search/make_plan.hpp makes one.
#pragma once

#include <cstdint>
#include <string>

#include "device/backend.hpp"
#include "knn/engine/engine.hpp"
#include "knn/engine/scan_kind.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

/// The way a search goes, and why.
struct Method {
  Engine engine = Engine::cpu_reference;
  BlockOrder order = BlockOrder::table;   ///< cpu_filter
  Visit visit = Visit::tiles;             ///< cpu_filter, if order is near
  ScanKind kind = ScanKind::differences;  ///< cpu_filter; difference_filter: differences or byte_differences
  bool values = false;                    ///< cpu_filter, visit queries: blocks of values instead of images
  bool for_later = false;                 ///< cpu_filter: the order pays because later searches will use it, too
  std::string reason = {};                ///< printed by --explain
  ScanKind lone_kind = kind;              ///< what a search of one query takes instead of `kind`
};

struct Plan {
  device::BackendChoice backend;
  Method method;
  std::int64_t tile_queries = 0;  ///< query rows in flight
  std::int64_t tile_rows = 0;     ///< training rows whose distances to these queries are held at once
  std::int64_t part_rows = 0;     ///< training rows that are encoded, and have images, at once
  std::int64_t memory_budget = 0;
  std::int64_t memory_planned = 0;  ///< bytes of the tiles and lists
  int threads = 0;
};

/// Fills in those fields of a report that the plan knows.
SearchReport report_of(const Plan& plan);

}  // namespace stope::knn
