// A table with its queries, answered under a forced back end, scan and order of rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "stope/knn.hpp"
#include "stope/run.hpp"
#include "stope/table.hpp"

namespace stope {

struct Case {
  Table train, query;
  KnnOptions knn;
  SearchOptions search;
  double radius = std::nan("");  // NaN: the nearest rows
};

inline Neighbors answer(const Case& c, const KnnIndex& index, const RunOptions& run) {
  if (std::isnan(c.radius)) return index.kneighbors(c.query, c.search, run);
  Neighbors all;
  index.radius_neighbors(c.query, c.radius, c.search, run, [&](const Neighbors& block) {
    const auto base = static_cast<std::int64_t>(all.indices.size());
    for (std::size_t i = 1; i < block.offsets.size(); ++i) all.offsets.push_back(base + block.offsets[i]);
    all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
    all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
  });
  return all;
}

class Forced {
 public:
  Forced(const std::string& backend, const std::string& order, const std::string& scan, std::int64_t tile_queries,
         std::int64_t part_rows, const std::string& visit = "") {
    setenv("STOPE_VISIT", visit.c_str(), 1);
    setenv("STOPE_PART_ROWS", part_rows > 0 ? std::to_string(part_rows).c_str() : "", 1);
    setenv("STOPE_BACKEND", backend.c_str(), 1);
    setenv("STOPE_BLOCK_ORDER", order.c_str(), 1);
    setenv("STOPE_SCAN", scan.c_str(), 1);
    setenv("STOPE_TILE_QUERIES", std::to_string(tile_queries).c_str(), 1);
  }
  ~Forced() {
    for (const char* name :
         {"STOPE_BACKEND", "STOPE_BLOCK_ORDER", "STOPE_VISIT", "STOPE_SCAN", "STOPE_TILE_QUERIES", "STOPE_PART_ROWS"})
      unsetenv(name);
  }
  Forced(const Forced&) = delete;
  Forced& operator=(const Forced&) = delete;
};

}  // namespace stope
