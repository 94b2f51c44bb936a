// What the tests of filters share: a table with its queries under a forced back end, scan and order of rows.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "effort.hpp"
#include "knn/answers.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

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

// Runs cases that once lost a neighbour, on every back end, kind of scan and order of rows.
inline void expect_the_references_answer(const Table& train, const Table& query, const std::string& metric,
                                         std::int64_t k, const std::vector<double>& weights = {}) {
  Case c;
  c.train = train;
  c.query = query;
  c.knn.metric.name = metric;
  c.knn.feature_weights = weights;
  c.search.n_neighbors = k;
  const KnnIndex index = KnnIndex::fit(c.train, c.knn);
  Neighbors expected;
  {
    const Forced forced("reference", "", "", 128, 0);
    expected = answer(c, index, {});
  }
  for (const BackendInfo& backend : device_info().backends) {
    if (!backend.available || backend.name == "reference") continue;
    const bool orders = backend.name != "cuda";  // a GPU takes rows in the table's order
    for (const char* order : {"", "table", "near"}) {
      for (const char* scan : {"", "differences", "products", "nibbles", "bytes"}) {
        if (!orders && *order != '\0') continue;
        // "" leaves the choice to the search, which takes one of the others.
        if (effort() < 100 && orders && (*order == '\0' || *scan == '\0')) continue;
        for (const char* visit : {"tiles", "queries"}) {
          if (std::string(order) != "near" && std::string(visit) == "queries") continue;
          const Forced forced(backend.name, order, scan, 1000, 0, visit);
          const Neighbors ours = answer(c, index, {});
          EXPECT_EQ(ours.indices, expected.indices)
              << metric << ", " << backend.name << ", " << order << ", " << scan << ", " << visit;
          EXPECT_TRUE(same_bits(ours.distances, expected.distances));
        }
      }
    }
  }
}

inline Table table_of(const std::vector<std::vector<double>>& columns) {
  Table table;
  table.n_rows = static_cast<std::int64_t>(columns.front().size());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    table.columns.push_back(make_numeric("x" + std::to_string(c), columns[c]));
  }
  return table;
}

}  // namespace stope
