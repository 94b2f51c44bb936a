// Every distance between the rows of two tables: as a matrix, or as a list of pairs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "stope/knn.hpp"

#pragma GCC visibility push(default)
namespace stope {

enum class SearchFor { nearest, farthest };
SearchFor search_for(std::string_view name);  ///< throws invalid_argument for any other name
std::string_view to_string(SearchFor search_for) noexcept;

struct PairwiseOptions {
  KnnOptions knn;
  std::int64_t n_neighbors = 0;  ///< 0 = every pair
  SearchFor search_for = SearchFor::nearest;
  bool similarities = false;  ///< report similarities (-distance, or the measure's own)
};

/// Consecutive rows of the matrix, from `first_request` on, each with all `n_reference` values, row-major.
struct PairwiseBlock {
  std::int64_t first_request = 0;
  std::int64_t n_requests = 0;
  std::int64_t n_reference = 0;
  const double* values = nullptr;
};

/// Computes every pair and hands the matrix to `sink` block by block. The request is the measure's first argument.
SearchReport pairwise_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                const RunOptions& run, const std::function<void(const PairwiseBlock&)>& sink);

/// Writes the whole matrix into the caller's memory, which nobody else touches meanwhile: request.n_rows x
/// reference.n_rows values, row-major. Throws invalid_argument for another size.
SearchReport pairwise_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                const RunOptions& run, std::span<double> matrix);

/// One pair of a cross-distance table; rows count from 0.
struct CrossDistance {
  std::int64_t request;
  std::int64_t document;
  double distance;
};

/// Every pair, ordered by request; if n_neighbors > 0, only the k nearest or farthest of each request, by (distance,
/// row). Under Compat::rapidminer this is RapidMiner's Cross Distances: the whole table, sorted by distance.
std::vector<CrossDistance> cross_distances(const Table& request, const Table& reference, const PairwiseOptions& options,
                                           const RunOptions& run = {}, SearchReport* report = nullptr);

}  // namespace stope
#pragma GCC visibility pop
