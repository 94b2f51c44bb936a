#include "knn/neighbor_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stope::knn {

void NearestList::reset(std::int64_t k) {
  k_ = k;
  heap_.clear();
}

void NearestList::offer(const Candidate& candidate) {
  if (static_cast<std::int64_t>(heap_.size()) < k_) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), closer);
  } else if (k_ > 0 && closer(candidate, heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), closer);
    heap_.back() = candidate;
    std::push_heap(heap_.begin(), heap_.end(), closer);
  }
}

double NearestList::threshold() const {
  return static_cast<std::int64_t>(heap_.size()) < k_ || heap_.empty() ? std::numeric_limits<double>::infinity()
                                                                       : heap_.front().distance;
}

void NearestList::take_sorted(std::vector<Candidate>& out) {
  std::sort_heap(heap_.begin(), heap_.end(), closer);
  out.assign(heap_.begin(), heap_.end());
  heap_.clear();
}

bool java_greater(double a, double b) {
  if (a > b) return true;
  if (a < b) return false;
  const bool a_nan = std::isnan(a), b_nan = std::isnan(b);
  if (a_nan || b_nan) return a_nan && !b_nan;
  return std::signbit(b) && !std::signbit(a);  // equal values: +0 > -0
}

void RapidMinerHeap::reset(std::int64_t k) {
  k_ = k;
  heap_.clear();
}

void RapidMinerHeap::offer(const Candidate& candidate) {
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

// java.util.PriorityQueue.siftUp: a parent that is not smaller stays where it is.
void RapidMinerHeap::push(const Candidate& candidate) {
  std::size_t i = heap_.size();
  heap_.push_back(candidate);
  while (i > 0) {
    const std::size_t parent = (i - 1) / 2;
    if (!java_greater(candidate.distance, heap_[parent].distance)) break;
    heap_[i] = heap_[parent];
    i = parent;
  }
  heap_[i] = candidate;
}

// java.util.PriorityQueue.poll: the last element sinks from the root; of equal children the left one rises.
void RapidMinerHeap::poll() {
  const Candidate last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  if (size == 0) return;
  std::size_t i = 0;
  for (std::size_t child = 1; child < size; child = 2 * i + 1) {
    const std::size_t right = child + 1;
    if (right < size && java_greater(heap_[right].distance, heap_[child].distance)) child = right;
    if (!java_greater(heap_[child].distance, last.distance)) break;
    heap_[i] = heap_[child];
    i = child;
  }
  heap_[i] = last;
}

}  // namespace stope::knn
