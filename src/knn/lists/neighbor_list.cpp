#include "knn/lists/neighbor_list.hpp"

#include <algorithm>
#include <limits>

namespace stope::knn {

void NearestList::reset(std::int64_t k) {
  k_ = k;
  heap_.clear();
  sorted_ = false;
}

void NearestList::take_over(std::vector<Neighbor>& sorted) {
  heap_.swap(sorted);
  sorted_ = true;
}

void NearestList::offer(const Neighbor& candidate) {
  if (static_cast<std::int64_t>(heap_.size()) < k_) {
    heap_.push_back(candidate);
    if (static_cast<std::int64_t>(heap_.size()) == k_) std::make_heap(heap_.begin(), heap_.end(), closer);
  } else if (k_ > 0 && closer(candidate, heap_.front())) {
    replace_farthest(candidate);
  }
}

// The candidate sinks from the root: half of what std::pop_heap and std::push_heap do.
void NearestList::replace_farthest(const Neighbor& candidate) {
  std::size_t at = 0;
  for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && closer(heap_[child], heap_[child + 1])) ++child;
    if (!closer(candidate, heap_[child])) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = candidate;
}

double NearestList::threshold() const {
  return static_cast<std::int64_t>(heap_.size()) < k_ || heap_.empty() ? std::numeric_limits<double>::infinity()
                                                                       : heap_.front().distance;
}

std::int64_t NearestList::last_row() const {
  return threshold() == 0.0 ? heap_.front().row : std::numeric_limits<std::int64_t>::max();
}

const std::vector<Neighbor>& NearestList::sorted() {
  if (!sorted_) std::sort(heap_.begin(), heap_.end(), closer);
  sorted_ = true;
  return heap_;
}

namespace {

struct HeapArray {
  Neighbor* at;
  double distance(int i) const { return at[i].distance; }
  void move(int to, int from) { at[to] = at[from]; }
  void put(int to, const Neighbor& candidate) { at[to] = candidate; }
};

}  // namespace

void RapidMinerHeap::reset(std::int64_t k) {
  k_ = k;
  heap_.clear();
}

void RapidMinerHeap::offer(const Neighbor& candidate) {
  if (static_cast<std::int64_t>(heap_.size()) < k_) {
    push(candidate);
  } else if (java_greater(heap_.front().distance, candidate.distance)) {
    poll();
    push(candidate);
  }
}

double RapidMinerHeap::threshold() const {
  return static_cast<std::int64_t>(heap_.size()) < k_ || heap_.empty() ? std::numeric_limits<double>::infinity()
                                                                       : heap_.front().distance;
}

void RapidMinerHeap::push(const Neighbor& candidate) {
  heap_.push_back(candidate);
  HeapArray array{heap_.data()};
  heap_push(array, static_cast<int>(heap_.size()) - 1, candidate);
}

void RapidMinerHeap::poll() {
  const Neighbor last = heap_.back();
  HeapArray array{heap_.data()};
  heap_poll(array, static_cast<int>(heap_.size()), last);
  heap_.pop_back();
}

}  // namespace stope::knn
