// KnnIndex: fit, k nearest, radius (stope/knn.hpp).
#include <cmath>
#include <string>

#include "knn/search.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {

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
  const auto n = static_cast<std::size_t>(queries.n_rows);
  all.offsets.reserve(n + 1);
  if (search.n_neighbors > 0 && search.n_neighbors <= n_samples()) {
    all.indices.reserve(n * static_cast<std::size_t>(search.n_neighbors));
    all.distances.reserve(n * static_cast<std::size_t>(search.n_neighbors));
  }
  kneighbors(queries, search, run, [&](const Neighbors& block) {
    const auto base = static_cast<std::int64_t>(all.indices.size());
    for (std::size_t i = 1; i < block.offsets.size(); ++i) all.offsets.push_back(base + block.offsets[i]);
    all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
    all.distances.insert(all.distances.end(), block.distances.begin(), block.distances.end());
  });
  return all;
}

SearchReport KnnIndex::radius_neighbors(const Table& queries, double radius, const SearchOptions& search,
                                        const RunOptions& run, const NeighborSink& sink) const {
  if (std::isnan(radius)) throw Error(ErrorCode::invalid_argument, "the radius is no number");
  knn::SearchJob job;
  job.selection.kind = knn::Selection::Kind::radius;
  job.selection.radius = radius;
  job.selection.exclude_self = search.exclude_self;
  job.exclude_group = search.exclude_group;
  return knn::run_search(*fitted_, queries, job, run, [&](std::vector<Neighbors>& lists) { sink(lists.front()); });
}

}  // namespace stope
