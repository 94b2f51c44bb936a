// Training tables in parts, each with an index of its own: the merged lists are those of one index of the whole table,
// bit for bit.
//
//   FeatureRanges ranges = join(feature_ranges(part0), feature_ranges(part1));
//   ... KnnIndex::fit(part0, {.metric = {"gower"}, .ranges = ranges}) ... kneighbors(queries, {.n_neighbors = k0}) ...
//   add the number of its first row to the indices of each part's lists
//   merge_neighbors({{lists0, lists1}}, k)
//
// That holds for every measure but mahalanobis, which compares by the covariance of all rows. gower and heom need the
// whole's ranges. Nominal columns must have the whole's values in every part. RapidMiner's lists (Compat::rapidminer)
// depend on the order in which rows were looked at, and do not merge. A part may have fewer than k rows: then its k is
// the number of its rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stope/run.hpp"
#include "stope/table.hpp"

#pragma GCC visibility push(default)
namespace stope {

struct Neighbors;  // stope/knn.hpp

/// The smallest and the largest present value of a numeric feature. Without present values low is infinity and high is
/// -infinity.
struct FeatureRange {
  std::string name;
  double low = 0.0, high = 0.0;
};

/// The ranges of a table's numeric features, in column order.
struct FeatureRanges {
  std::vector<FeatureRange> features = {};
};

/// One pass over the table.
FeatureRanges feature_ranges(const Table& table, const RunOptions& run = {});

/// Returns the ranges of both tables' rows together. Throws invalid_argument if the tables differ in their features.
FeatureRanges join(const FeatureRanges& a, const FeatureRanges& b);

/// Merges lists of the same queries, one Neighbors a part, whose indices are rows of the whole table. Keeps the
/// n_neighbors nearest of every query by (distance, index), NaN last; all if it is 0, as for lists within a radius.
/// Entries of index -1 (padding) are left out. Throws invalid_argument if the parts differ in their queries, if
/// offsets do not fit the lists, or for n_neighbors < 0. O(entries x log entries of a query).
Neighbors merge_neighbors(std::span<const Neighbors> parts, std::int64_t n_neighbors);

}  // namespace stope
#pragma GCC visibility pop
