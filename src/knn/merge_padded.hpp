// Lists of parts of a training table, merged where the caller has them.
#pragma once

#include <cstdint>

namespace stope::knn {

/// Lists of k entries a query. Those of part p begin at p * stride. A shorter list goes on with index -1.
struct PaddedLists {
  std::int64_t n_parts, stride, n_queries, k;
  const std::int64_t* indices;
  const double* distances;
};

/// Writes the k closest entries of each query's lists, padded by index -1 and distance NaN: merge_neighbors(), without
/// a copy. It takes memory for 2 k entries, however many parts there are.
void merge_padded(const PaddedLists& parts, std::int64_t* indices, double* distances);

}  // namespace stope::knn
