// What the tests of filters share: a table with its queries under a forced back end, scan and order of rows.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "effort.hpp"
#include "knn/answers.hpp"
#include "knn/filter/forced.hpp"
#include "stope/device.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"
#include "stope/metric.hpp"

namespace stope {

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
