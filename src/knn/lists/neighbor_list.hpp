// Which rows stay in a neighbour list, and in which order: this file decides every tie.
#pragma once

#include <cstdint>
#include <vector>

#include "knn/lists/rapidminer_heap.hpp"

namespace stope::knn {

struct Neighbor {
  double distance;
  std::int64_t row;
};

/// stope's order: by (distance, row), NaN after everything, -0 equal to +0. A strict total order on candidates, so the
/// k smallest do not depend on tiles, threads or devices, and lists merge associatively.
inline bool closer(const Neighbor& a, const Neighbor& b) {
  if (a.distance < b.distance) return true;
  if (b.distance < a.distance) return false;
  const bool a_nan = a.distance != a.distance, b_nan = b.distance != b.distance;
  if (a_nan != b_nan) return b_nan;
  return a.row < b.row;
}

/// The k closest candidates offered, in any order of offering.
class NearestList {
 public:
  void reset(std::int64_t k);
  void offer(const Neighbor& candidate);
  /// The candidates, closest first; the list is empty afterwards.
  void take_sorted(std::vector<Neighbor>& out);
  /// The distance of the farthest of k candidates, infinity while there are fewer.
  double threshold() const;

 private:
  std::int64_t k_ = 0;
  std::vector<Neighbor> heap_;  // max-heap by `closer`
};

/// RapidMiner's BoundedPriorityQueue (rapidminer_heap.hpp): rows must be offered in training order.
class RapidMinerHeap {
 public:
  void reset(std::int64_t k);
  void offer(const Neighbor& candidate);
  /// Goes on with an array that array() returned.
  void restore(const std::vector<Neighbor>& array) { heap_ = array; }
  /// The candidates in heap-array order, the order in which votes are added.
  const std::vector<Neighbor>& array() const { return heap_; }
  /// The root's distance, infinity while there are fewer than k candidates.
  double threshold() const;

 private:
  void push(const Neighbor& candidate);
  void poll();

  std::int64_t k_ = 0;
  std::vector<Neighbor> heap_;
};

}  // namespace stope::knn
