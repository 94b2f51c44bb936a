// The caller's memory for neighbour lists, on the host or in a GPU (NeighborArrays).
#pragma once

#include <cstdint>

#include "knn/engine/pipeline.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

class CallerLists {
 public:
  /// Throws invalid_argument for memory that is null, or memory or a stream that is not the GPU's; device_unavailable
  /// where that GPU cannot be used.
  CallerLists(const NeighborArrays& arrays, std::int64_t n_queries, std::int64_t k);

  const NeighborArrays& arrays() const { return arrays_; }
  std::int64_t k() const { return k_; }

  /// Writes lists of consecutive queries, padded to k entries each.
  void write(const Neighbors& lists) const;
  /// Writes the lists of the queries that a GPU left to the host. Its own are in place.
  void write(const Outcome& outcome) const;

 private:
  void put(std::int64_t first_query, std::int64_t n, const std::int64_t* indices, const double* distances) const;

  NeighborArrays arrays_;
  std::int64_t k_;
};

}  // namespace stope::knn
