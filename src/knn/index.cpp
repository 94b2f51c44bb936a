// KnnIndex: fit, k nearest, radius (stope/knn.hpp).
#include <cmath>
#include <string>
#include <utility>

#include "base/huge_pages.hpp"
#include "knn/search/search.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

// Reserves room for n lists of k neighbours.
void reserve(std::size_t n, std::int64_t k, Neighbors& lists) {
  const std::size_t n_neighbors = n * static_cast<std::size_t>(k);
  lists.offsets.reserve(n + 1);
  lists.indices.reserve(n_neighbors);
  lists.distances.reserve(n_neighbors);
  prefer_huge_pages(lists.indices.data(), n_neighbors * sizeof(std::int64_t));
  prefer_huge_pages(lists.distances.data(), n_neighbors * sizeof(double));
}

}  // namespace

KnnIndex KnnIndex::fit(const Table& train, const KnnOptions& options, const RunOptions& run) {
  KnnIndex index;
  index.fitted_ = std::make_shared<const knn::Fitted>(train, options, run);
  return index;
}

std::int64_t KnnIndex::n_samples() const {
  return fitted_->n_rows();
}
std::int64_t KnnIndex::n_features() const {
  return fitted_->width();
}

SearchReport KnnIndex::kneighbors(const Table& queries, const SearchOptions& search, const RunOptions& run,
                                  const NeighborSink& sink) const {
  knn::SearchJob job{knn::select_nearest(*fitted_, {search.n_neighbors}, search.exclude_self), search.exclude_group};
  return knn::run_search(*fitted_, queries, job, run, [&](std::vector<Neighbors>& lists) { sink(lists.front()); });
}

Neighbors KnnIndex::kneighbors(const Table& queries, const SearchOptions& search, const RunOptions& run) const {
  Neighbors all;
  const knn::SearchJob job{knn::select_nearest(*fitted_, {search.n_neighbors}, search.exclude_self),
                           search.exclude_group};
  knn::run_search(*fitted_, queries, job, run, [&](std::vector<Neighbors>& lists) {
    Neighbors& block = lists.front();
    if (block.n_queries() == queries.n_rows) {  // the block holds all queries
      all = std::move(block);
      return;
    }
    if (block.first_query == 0) reserve(static_cast<std::size_t>(queries.n_rows), search.n_neighbors, all);
    const auto base = static_cast<std::int64_t>(all.indices.size());
    for (std::size_t i = 1; i < block.offsets.size(); ++i) all.offsets.push_back(base + block.offsets[i]);
    all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
    all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
  });
  return all;
}

SearchReport KnnIndex::radius_neighbors(const Table& queries, double radius, const SearchOptions& search,
                                        const RunOptions& run, const NeighborSink& sink) const {
  if (std::isnan(radius)) throw Error(ErrorCode::invalid_argument, "the radius is not a number");
  knn::SearchJob job;
  job.selection.kind = knn::Selection::Kind::radius;
  job.selection.radius = radius;
  job.selection.exclude_self = search.exclude_self;
  job.exclude_group = search.exclude_group;
  return knn::run_search(*fitted_, queries, job, run, [&](std::vector<Neighbors>& lists) { sink(lists.front()); });
}

}  // namespace stope
