#include "knn/lists/collector.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/checked.hpp"

namespace stope::knn {

void Collector::reset(const Selection& selection) {
  kind_ = selection.kind;
  radius_ = selection.radius;
  longest_ = static_cast<std::size_t>(selection.longest);
  too_long_ = false;
  switch (kind_) {
    case Selection::Kind::nearest: nearest_.reset(selection.ks.front()); break;
    case Selection::Kind::rapidminer_heap:
      heaps_.resize(selection.ks.size());
      for (std::size_t i = 0; i < heaps_.size(); ++i) heaps_[i].reset(selection.ks[i]);
      break;
    case Selection::Kind::radius: within_.clear(); break;
  }
}

void Collector::restore(const Lists& lists, std::size_t first) {
  if (kind_ == Selection::Kind::rapidminer_heap) {
    for (std::size_t i = 0; i < heaps_.size(); ++i) heaps_[i].restore(lists.list(first + i));
    return;
  }
  lists.for_each(first, [&](const Neighbor& candidate) { offer(candidate); });
}

void Collector::offer(const Neighbor& candidate) {
  switch (kind_) {
    case Selection::Kind::nearest: nearest_.offer(candidate); break;
    case Selection::Kind::rapidminer_heap:
      for (RapidMinerHeap& heap : heaps_) heap.offer(candidate);
      break;
    case Selection::Kind::radius:
      if (!(candidate.distance <= radius_)) break;
      if (within_.size() < longest_) {
        within_.push_back(candidate);
      } else {
        too_long_ = true;
      }
      break;
  }
}

double Collector::threshold() const {
  if (kind_ == Selection::Kind::nearest) return nearest_.threshold();
  if (kind_ == Selection::Kind::radius) return radius_;
  double most = -std::numeric_limits<double>::infinity();
  for (const RapidMinerHeap& heap : heaps_) {
    const double root = heap.threshold();
    if (!(root <= most)) most = root;  // a NaN stays: under it any row can enter
    if (most != most) break;
  }
  return most;
}

const std::vector<Neighbor>& Collector::take(std::size_t list) {
  switch (kind_) {
    case Selection::Kind::nearest: return nearest_.sorted();
    case Selection::Kind::rapidminer_heap: return heaps_[list].array();
    case Selection::Kind::radius: break;
  }
  std::sort(within_.begin(), within_.end(), closer);
  return within_;
}

void hand_on_lists(const Lists& lists, std::size_t n_lists, std::int64_t first_query, ThreadPool& pool,
                   const CancelToken& cancel, std::vector<Neighbors>& out) {
  constexpr std::int64_t kQueriesPerTask = 4096;
  const std::size_t n = lists.size() / n_lists;
  out.resize(n_lists);
  for (std::size_t list = 0; list < n_lists; ++list) {
    Neighbors& neighbors = out[list];
    neighbors.first_query = first_query;
    neighbors.offsets.resize(n + 1);
    neighbors.offsets[0] = 0;
    for (std::size_t i = 0; i < n; ++i) {
      neighbors.offsets[i + 1] = neighbors.offsets[i] + lists.length(i * n_lists + list);
    }
    neighbors.indices.resize(static_cast<std::size_t>(neighbors.offsets[n]));
    neighbors.distances.resize(neighbors.indices.size());
    pool.parallel_for(checked::ceil_div(static_cast<std::int64_t>(n), kQueriesPerTask), cancel,
                      [&](std::int64_t task, int) {
                        const std::size_t end = std::min(n, static_cast<std::size_t>((task + 1) * kQueriesPerTask));
                        for (auto i = static_cast<std::size_t>(task * kQueriesPerTask); i < end; ++i) {
                          auto at = static_cast<std::size_t>(neighbors.offsets[i]);
                          lists.for_each(i * n_lists + list, [&](const Neighbor& candidate) {
                            neighbors.indices[at] = candidate.row;
                            neighbors.distances[at] = candidate.distance;
                            ++at;
                          });
                        }
                      });
  }
}

}  // namespace stope::knn
