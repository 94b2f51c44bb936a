// What the tests of the tensor filter on a GPU share: tables and a comparison.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "knn/filter/filter_cases.hpp"

namespace stope {

using Columns = std::vector<std::vector<double>>;  // column by column

template <class Value>
Columns fill(std::int64_t n_rows, std::int64_t n_columns, const Value& value) {
  Columns columns(static_cast<std::size_t>(n_columns), std::vector<double>(static_cast<std::size_t>(n_rows)));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    for (std::size_t r = 0; r < columns[c].size(); ++r) columns[c][r] = value(r, c);
  }
  return columns;
}

// The GPU's answer must be the CPU's. Returns the GPU's report.
inline SearchReport expect_the_processors_answer(const Table& train, const Table& query, std::int64_t k,
                                                 const KnnOptions& options = {}, bool exclude_self = false) {
  const KnnIndex index = KnnIndex::fit(train, options);
  Neighbors ours;
  const SearchReport report =
      index.kneighbors(query, {.n_neighbors = k, .exclude_self = exclude_self}, {}, [&](const Neighbors& block) {
        EXPECT_EQ(block.first_query, ours.n_queries());
        for (std::int64_t i = 0; i < block.n_queries(); ++i) {
          ours.offsets.push_back(ours.offsets.back() + k);
        }
        ours.indices.insert(ours.indices.end(), block.indices.begin(), block.indices.end());
        ours.distances.insert(ours.distances.end(), block.distances.begin(), block.distances.end());
      });
  unsetenv("STOPE_BACKEND");
  const Neighbors theirs = index.kneighbors(query, {.n_neighbors = k, .exclude_self = exclude_self}, {.device = "cpu"});
  setenv("STOPE_BACKEND", "cuda", 1);
  EXPECT_EQ(ours.indices.size(), theirs.indices.size());
  for (std::size_t i = 0; i < std::min(ours.indices.size(), theirs.indices.size()); ++i) {
    const bool same = ours.indices[i] == theirs.indices[i] && std::bit_cast<std::uint64_t>(ours.distances[i]) ==
                                                                  std::bit_cast<std::uint64_t>(theirs.distances[i]);
    if (same) continue;
    const auto at = static_cast<std::int64_t>(i);
    ADD_FAILURE() << "query " << at / k << ", neighbour " << at % k << ": row " << ours.indices[i] << " at "
                  << ours.distances[i] << ", should be row " << theirs.indices[i] << " at " << theirs.distances[i]
                  << "; " << report.listed << " listed, " << report.evaluated << " evaluated, " << report.uncertified
                  << " uncertified";
    break;
  }
  return report;
}

/// Makes 400 different rows of whole numbers below `most`. Each has `copies` copies, spread over the table, so that a
/// group of 4 has at most one of each. Returns how many of 50 queries among them, for k neighbours, stay uncertified.
/// `kind` seeds the numbers.
inline std::int64_t uncertified_among_copies(std::uint64_t kind, std::int64_t n_columns, std::uint64_t most,
                                             std::int64_t copies, std::int64_t k) {
  Random random(kind);
  std::vector<std::vector<double>> rows(400, std::vector<double>(static_cast<std::size_t>(n_columns)));
  for (std::vector<double>& row : rows) {
    for (double& value : row) value = static_cast<double>(random.below(most));
  }
  const Table train =
      table_of(fill(400 * copies, n_columns, [&](std::size_t r, std::size_t c) { return rows[r % 400][c]; }));
  const Table query = table_of(fill(50, n_columns, [&](std::size_t r, std::size_t c) { return rows[r * 7 % 400][c]; }));
  SCOPED_TRACE(std::to_string(copies) + " copies, k " + std::to_string(k));
  return expect_the_processors_answer(train, query, k).uncertified;
}

}  // namespace stope
