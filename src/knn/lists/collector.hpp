// Collects the neighbour lists of one query under a selection. Every searcher fills its lists through this class.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/thread_pool.hpp"
#include "knn/lists/lists.hpp"
#include "knn/lists/neighbor_list.hpp"
#include "knn/lists/selection.hpp"
#include "stope/knn.hpp"

namespace stope::knn {

class Collector {
 public:
  /// Empties the lists; the memory stays.
  void reset(const Selection& selection);
  /// Restores what take() gave for every list, from list `first` on, so that more rows can be offered.
  void restore(const Lists& lists, std::size_t first);
  /// RapidMiner's heaps must be offered rows in training order; the other kinds take them in any order.
  void offer(const Neighbor& candidate);
  /// Takes the k nearest rows, or all if there are fewer, in their order, in place of offers; `nearest` gets memory
  /// back.
  void take_over(std::vector<Neighbor>& nearest) { nearest_.take_over(nearest); }
  /// Whether more rows lie within the radius than selection.longest. The list is unusable then.
  bool too_long() const { return too_long_; }
  /// How many rows the list lacks until it has a threshold; 0 for heaps and radii.
  std::int64_t lacking() const { return kind_ == Selection::Kind::nearest ? nearest_.lacking() : 0; }
  /// No candidate at a distance of 0 or more whose row is greater can enter a list any more. It is less than the
  /// largest number only where k rows are known to be at a distance of 0.
  std::int64_t last_row() const { return kind_ == Selection::Kind::nearest ? nearest_.last_row() : kAnyRow; }
  /// No candidate at a greater distance can enter a list any more. If it is infinity or NaN, every candidate can.
  double threshold() const;
  /// Ends list number `list`, of selection.n_lists(), and returns it in the order in which users get it. It is there
  /// until reset().
  const std::vector<Neighbor>& take(std::size_t list);

 private:
  static constexpr std::int64_t kAnyRow = std::numeric_limits<std::int64_t>::max();
  Selection::Kind kind_ = Selection::Kind::nearest;
  double radius_ = 0.0;
  std::size_t longest_ = 0;
  bool too_long_ = false;
  NearestList nearest_;
  std::vector<RapidMinerHeap> heaps_;
  std::vector<Neighbor> within_;
};

/// Hands on lists of any length of consecutive queries, as one Neighbors per list. The memory of `out` is used again.
void hand_on_lists(const Lists& lists, std::size_t n_lists, std::int64_t first_query, ThreadPool& pool,
                   const CancelToken& cancel, std::vector<Neighbors>& out);

}  // namespace stope::knn
