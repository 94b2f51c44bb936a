// Decides which rows stay in a neighbour list, and in which order. Every tie is decided here.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "knn/lists/rapidminer_heap.hpp"

namespace stope::knn {

struct Neighbor {
  double distance;
  std::int64_t row;
};

/// stope orders candidates by (distance, row), NaN after everything, -0 equal to +0. This is a strict total order, so
/// the k smallest do not depend on tiles, threads or devices, and lists merge associatively.
inline bool closer(const Neighbor& a, const Neighbor& b) {
  if (a.distance < b.distance) return true;
  if (b.distance < a.distance) return false;
  const bool a_nan = a.distance != a.distance, b_nan = b.distance != b.distance;
  if (a_nan != b_nan) return b_nan;
  return a.row < b.row;
}

/// Keeps the k closest candidates, offered in any order.
class NearestList {
 public:
  void reset(std::int64_t k);
  void offer(const Neighbor& candidate);
  /// Takes candidates in their order, at most k, in place of offers; `sorted` gets the memory of earlier ones.
  void take_over(std::vector<Neighbor>& sorted);
  /// Ends the list: returns the candidates, closest first. They are there until the list is reset.
  const std::vector<Neighbor>& sorted();
  /// Returns the distance of the farthest of k candidates, infinity while there are fewer.
  double threshold() const;
  /// Returns the row of the farthest of k candidates if it is at a distance of 0, otherwise the largest number.
  std::int64_t last_row() const;
  /// How many more candidates there could be.
  std::int64_t lacking() const { return k_ - static_cast<std::int64_t>(heap_.size()); }

 private:
  void replace_farthest(const Neighbor& candidate);

  std::int64_t k_ = 0;
  bool sorted_ = false;         // nothing is offered any more
  std::vector<Neighbor> heap_;  // max-heap by `closer`, once there are k
};

/// Does what RapidMiner's BoundedPriorityQueue does (rapidminer_heap.hpp). Rows must be offered in training order.
class RapidMinerHeap {
 public:
  void reset(std::int64_t k);
  void offer(const Neighbor& candidate);
  /// Goes on from an array that array() returned.
  void restore(std::vector<Neighbor> array) { heap_ = std::move(array); }
  /// Returns the candidates in heap-array order, the order in which votes are added.
  const std::vector<Neighbor>& array() const { return heap_; }
  /// Returns the root's distance, infinity while there are fewer than k candidates.
  double threshold() const;

 private:
  void push(const Neighbor& candidate);
  void poll();

  std::int64_t k_ = 0;
  std::vector<Neighbor> heap_;
};

}  // namespace stope::knn
