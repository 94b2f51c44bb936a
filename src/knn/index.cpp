// KnnIndex: fit a table, k nearest, radius (stope/knn.hpp).
#include <cmath>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/guarded.hpp"
#include "base/huge_pages.hpp"
#include "base/memory.hpp"
#include "base/report.hpp"
#include "base/sink.hpp"
#include "knn/gpu/gpu_filter_cache.hpp"
#include "knn/search/queries.hpp"
#include "knn/search/search.hpp"
#include "stope/error.hpp"
#include "stope/knn.hpp"

namespace stope {
namespace {

knn::SearchJob job_of(const SearchOptions& search, knn::Selection selection) {
  knn::SearchJob job{std::move(selection), search.exclude_group};
  job.first_query = search.first_query;
  job.exclude_train = search.exclude_train ? &*search.exclude_train : nullptr;
  job.exclude_query = search.exclude_query ? &*search.exclude_query : nullptr;
  return job;
}

knn::SearchJob nearest(const knn::Fitted& fitted, const SearchOptions& search) {
  return job_of(search, knn::select_nearest(fitted, {search.n_neighbors}, search.exclude_self));
}

knn::SearchJob within(double radius, const SearchOptions& search) {
  if (std::isnan(radius)) throw Error(ErrorCode::invalid_argument, "the radius is not a number", {.option = "radius"});
  knn::Selection selection;
  selection.kind = knn::Selection::Kind::radius;
  selection.radius = radius;
  selection.exclude_self = search.exclude_self;
  return job_of(search, std::move(selection));
}

// Reserves room for n lists of k neighbours.
void reserve(std::size_t n, std::int64_t k, Neighbors& lists) {
  const std::size_t n_neighbors = n * static_cast<std::size_t>(k);
  lists.offsets.reserve(n + 1);
  lists.indices.reserve(n_neighbors);
  lists.distances.reserve(n_neighbors);
  prefer_huge_pages(lists.indices.data(), n_neighbors * sizeof(std::int64_t));
  prefer_huge_pages(lists.distances.data(), n_neighbors * sizeof(double));
}

// Collects the lists of all blocks. `k`: their length, 0 if it is not known.
class Collected {
 public:
  Collected(const knn::Fitted& fitted, const QueryRows& queries, std::int64_t k, const RunOptions& run)
      : n_queries_(knn::checked_rows(fitted, queries)), k_(std::min(k, fitted.n_rows())), run_(run) {
    require_room(checked::mul(n_queries_, k_));
  }

  void operator()(std::vector<Neighbors>& lists) {
    Neighbors& block = lists.front();
    if (k_ == 0) require_room(checked::add(std::ssize(all_.indices), std::ssize(block.indices)));
    if (block.n_queries() == n_queries_) {  // the block holds all queries
      all_ = std::move(block);
      return;
    }
    if (block.first_query == 0 && k_ > 0) reserve(static_cast<std::size_t>(n_queries_), k_, all_);
    const auto base = static_cast<std::int64_t>(all_.indices.size());
    for (std::size_t i = 1; i < block.offsets.size(); ++i) all_.offsets.push_back(base + block.offsets[i]);
    all_.indices.insert(all_.indices.end(), block.indices.begin(), block.indices.end());
    all_.distances.insert(all_.distances.end(), block.distances.begin(), block.distances.end());
  }

  Neighbors take() { return std::move(all_); }

 private:
  void require_room(std::int64_t n_neighbors) const {
    constexpr std::int64_t kEntryBytes = sizeof(std::int64_t) + sizeof(double);
    require_memory("the lists of neighbours need",
                   checked::add(checked::mul(n_neighbors, kEntryBytes), checked::mul(n_queries_, sizeof(std::int64_t))),
                   run_);
  }

  std::int64_t n_queries_, k_;
  const RunOptions& run_;
  Neighbors all_;
};

}  // namespace

KnnIndex KnnIndex::fit(const Table& train, const KnnOptions& options, const RunOptions& run) try {
  const JobTime time(run);
  KnnIndex index;
  index.fitted_ = std::make_shared<const knn::Fitted>(train, options, run);
  time.hand("fit", run.threads > 0 ? run.threads : available_threads());
  return index;
} catch (...) {
  rethrow_as_error();
}

const knn::Fitted& KnnIndex::fitted() const try {
  if (fitted_ == nullptr) throw Error(ErrorCode::invalid_argument, "the index has not been fitted");
  return *fitted_;
} catch (...) {
  rethrow_as_error();
}
std::int64_t KnnIndex::n_samples() const {
  return fitted().n_rows();
}
std::int64_t KnnIndex::n_features() const {
  return fitted().width();
}
const double* KnnIndex::rows() const try { return fitted().resident() ? fitted().rows() : nullptr; } catch (...) {
  rethrow_as_error();
}
bool KnnIndex::all_finite() const try { return fitted().all_finite(); } catch (...) {
  rethrow_as_error();
}
Table KnnIndex::train() const try { return fitted().train(); } catch (...) {
  rethrow_as_error();
}
void KnnIndex::release_devices() const try {
  fitted().leave_gpus();
  fitted().gpu_filters().release();
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnIndex::kneighbors(const QueryRows& queries, const SearchOptions& search, const RunOptions& run,
                                  const NeighborSink& sink) const try {
  require_sink(sink);
  return knn::run_search(fitted(), queries, nearest(fitted(), search), run,
                         [&](std::vector<Neighbors>& lists) { sink(lists.front()); });
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnIndex::kneighbors(const QueryRows& queries, const SearchOptions& search, const RunOptions& run,
                                  const NeighborArrays& out) const try {
  return knn::run_search(fitted(), queries, nearest(fitted(), search), run, out);
} catch (...) {
  rethrow_as_error();
}

Neighbors KnnIndex::kneighbors(const QueryRows& queries, const SearchOptions& search, const RunOptions& run) const try {
  Collected all(fitted(), queries, search.n_neighbors, run);
  knn::run_search(fitted(), queries, nearest(fitted(), search), run, std::ref(all));
  return all.take();
} catch (...) {
  rethrow_as_error();
}

SearchReport KnnIndex::radius_neighbors(const QueryRows& queries, double radius, const SearchOptions& search,
                                        const RunOptions& run, const NeighborSink& sink) const try {
  require_sink(sink);
  return knn::run_search(fitted(), queries, within(radius, search), run,
                         [&](std::vector<Neighbors>& lists) { sink(lists.front()); });
} catch (...) {
  rethrow_as_error();
}

Neighbors KnnIndex::radius_neighbors(const QueryRows& queries, double radius, const SearchOptions& search,
                                     const RunOptions& run, SearchReport* report) const try {
  Collected all(fitted(), queries, 0, run);
  const SearchReport done = knn::run_search(fitted(), queries, within(radius, search), run, std::ref(all));
  if (report != nullptr) *report = done;
  return all.take();
} catch (...) {
  rethrow_as_error();
}

}  // namespace stope
